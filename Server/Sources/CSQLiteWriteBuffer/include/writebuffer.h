#ifndef WRITEBUFFER_H
#define WRITEBUFFER_H

struct sqlite3;

/// A file system for SQLite that hands what one connection writes to its log to the one below it in
/// larger pieces.
///
/// SQLite writes a commit to its write-ahead log in two small writes for each page. They follow one
/// another in the file, so they are gathered here and written as one, at the latest when SQLite
/// flushes the log. With `synchronous = FULL` nobody else is told of a commit before that.
///
/// The main file is left alone: a checkpoint that readers hold back tells others to read from it
/// what it has written, without flushing it first.

/// Puts it in front of the default file system, once for each of those; all files opened from now
/// on go through it, unchanged.
///
/// - Returns: an SQLite result code.
int writebuffer_install(void);

/// Gathers, from now on, what this connection writes to its log.
///
/// Only for a connection with `journal_mode = WAL` and `synchronous = FULL`: with less, others see
/// a commit before it is flushed, and would read a log that lacks it. Where the files were opened
/// through another file system, or the one below does not say `SQLITE_IOCAP_POWERSAFE_OVERWRITE`,
/// nothing is gathered.
///
/// - Returns: an SQLite result code.
int writebuffer_begin(struct sqlite3 *database);

#endif
