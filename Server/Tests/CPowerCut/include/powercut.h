#ifndef POWERCUT_H
#define POWERCUT_H

/// Makes a file system the default of SQLite in this process that remembers, of every file whose path
/// contains `part`, which writes were flushed and which were only made. All else goes through.
/// Returns 0, or SQLite's error.
int powercut_install(const char *part);

/// What a power cut at this instant, or between the next write and its flush, would leave of the
/// files below `folder`: everything up to the last flush of each, and of what was written since a
/// part that `seed` chooses, perhaps torn. The files are written to the existing folder
/// `destination`. Returns how many sectors of writes were lost, or -1 if a file could not be written.
long powercut_cut(const char *folder, const char *destination, unsigned seed);

/// How often files whose path contains `part` were written to.
long powercut_writes(const char *part);

/// From now on every write to a file whose path contains `part` fails as on a full disk; with "" none.
void powercut_fill(const char *part);

/// Forgets the files below `folder`.
void powercut_forget(const char *folder);

#endif
