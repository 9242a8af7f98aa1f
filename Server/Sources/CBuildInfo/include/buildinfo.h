#ifndef BUILDINFO_H
#define BUILDINFO_H

/// The commit from which a package was built, with `-dirty` after it where files were changed.
///
/// Empty in any other build: naming the commit there would compile something after each commit.
const char *buildinfo_commit(void);

#endif
