#ifndef WRITEBUFFER_H
#define WRITEBUFFER_H

struct sqlite3;

/// A file system for SQLite that hands what one connection writes to the one below it in larger
/// pieces.
///
/// SQLite writes a commit to its write-ahead log in two small writes for each page, and a checkpoint
/// page by page. Where those follow one another in the file, they are gathered here and written as
/// one, at the latest when SQLite flushes the file. Nothing is promised earlier than before: what
/// was not flushed was never safe, and with `synchronous = FULL` nobody else is told of it before.

/// Puts it in front of the default file system, once for each of those; all files opened from now
/// on go through it, unchanged.
///
/// - Returns: an SQLite result code.
int writebuffer_install(void);

/// Gathers, from now on, what this connection writes to its main file and to its log.
///
/// Only for a connection with `journal_mode = WAL` and `synchronous = FULL`: with less, others see
/// a commit before it is flushed, and would read a log that lacks it. Where the file system below
/// does not say `SQLITE_IOCAP_POWERSAFE_OVERWRITE`, nothing is gathered.
///
/// - Returns: an SQLite result code; `SQLITE_NOTFOUND` if the files were opened otherwise.
int writebuffer_begin(struct sqlite3 *database);

#endif
