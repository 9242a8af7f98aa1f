#include "writebuffer.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* What is gathered at most before it is written: SQLite's own file systems take less than 128 KiB
   at once. */
enum { CAPACITY = 124 * 1024 };

typedef struct File {
    sqlite3_file base;
    sqlite3_file *real;
    /* NULL: whatever is written goes straight through. */
    char *buffer;
    sqlite3_int64 start;
    int count;
} File;

#define REAL(file) (((File *)(file))->real)
#define CALL(file, method, ...) (REAL(file)->pMethods->method(REAL(file), ##__VA_ARGS__))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs shim;
static sqlite3_vfs *below;
static const sqlite3_io_methods methods;

/* What could not be written is forgotten: SQLite hears of it and gives the transaction up. */
static int flush(sqlite3_file *file) {
    File *mine = (File *)file;
    if (mine->count == 0) return SQLITE_OK;
    int count = mine->count;
    mine->count = 0;
    return CALL(file, xWrite, mine->buffer, count, mine->start);
}

static int xClose(sqlite3_file *file) {
    File *mine = (File *)file;
    int flushed = flush(file);
    int closed = CALL(file, xClose);
    sqlite3_free(mine->buffer);
    sqlite3_free(mine->real);
    mine->buffer = NULL;
    mine->real = NULL;
    return flushed == SQLITE_OK ? closed : flushed;
}

static int xRead(sqlite3_file *file, void *to, int count, sqlite3_int64 offset) {
    File *mine = (File *)file;
    if (mine->count && offset < mine->start + mine->count && mine->start < offset + count) {
        /* An error of reading, which ends the transaction, whatever the write met with. */
        if (flush(file) != SQLITE_OK) return SQLITE_IOERR_WRITE;
    }
    return CALL(file, xRead, to, count, offset);
}

static int xWrite(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset) {
    File *mine = (File *)file;
    if (mine->buffer == NULL) return CALL(file, xWrite, from, count, offset);
    if (offset != mine->start + mine->count || mine->count + count > CAPACITY) {
        int code = flush(file);
        if (code != SQLITE_OK) return code;
        if (count > CAPACITY) return CALL(file, xWrite, from, count, offset);
        mine->start = offset;
    }
    memcpy(mine->buffer + mine->count, from, (size_t)count);
    mine->count += count;
    return SQLITE_OK;
}

static int xTruncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = flush(file);
    return code == SQLITE_OK ? CALL(file, xTruncate, size) : code;
}

static int xSync(sqlite3_file *file, int flags) {
    int code = flush(file);
    return code == SQLITE_OK ? CALL(file, xSync, flags) : code;
}

static int xFileSize(sqlite3_file *file, sqlite3_int64 *size) {
    int code = flush(file);
    return code == SQLITE_OK ? CALL(file, xFileSize, size) : code;
}

static int xLock(sqlite3_file *file, int level) { return CALL(file, xLock, level); }

static int xUnlock(sqlite3_file *file, int level) { return CALL(file, xUnlock, level); }

static int xCheckReservedLock(sqlite3_file *file, int *result) {
    return CALL(file, xCheckReservedLock, result);
}

static int xFileControl(sqlite3_file *file, int operation, void *argument) {
    int code = CALL(file, xFileControl, operation, argument);
    if (operation == SQLITE_FCNTL_VFSNAME && code == SQLITE_OK) {
        char **name = argument;
        *name = sqlite3_mprintf("%s/%z", shim.zName, *name);
    }
    return code;
}

/* A file system need not have it; 4096 is what SQLite takes then. */
static int xSectorSize(sqlite3_file *file) {
    return REAL(file)->pMethods->xSectorSize ? CALL(file, xSectorSize) : 4096;
}

static int xDeviceCharacteristics(sqlite3_file *file) {
    return CALL(file, xDeviceCharacteristics);
}

static int xShmMap(sqlite3_file *file, int page, int size, int extend, void volatile **to) {
    const sqlite3_io_methods *real = REAL(file)->pMethods;
    if (real->iVersion < 2 || real->xShmMap == NULL) return SQLITE_IOERR_SHMMAP;
    return CALL(file, xShmMap, page, size, extend, to);
}

static int xShmLock(sqlite3_file *file, int offset, int count, int flags) {
    return CALL(file, xShmLock, offset, count, flags);
}

static void xShmBarrier(sqlite3_file *file) { CALL(file, xShmBarrier); }

static int xShmUnmap(sqlite3_file *file, int remove) { return CALL(file, xShmUnmap, remove); }

/* Version 2: no memory mapping, which would look past the buffer. */
static const sqlite3_io_methods methods = {
    .iVersion = 2, .xClose = xClose, .xRead = xRead, .xWrite = xWrite, .xTruncate = xTruncate,
    .xSync = xSync, .xFileSize = xFileSize, .xLock = xLock, .xUnlock = xUnlock,
    .xCheckReservedLock = xCheckReservedLock, .xFileControl = xFileControl,
    .xSectorSize = xSectorSize, .xDeviceCharacteristics = xDeviceCharacteristics,
    .xShmMap = xShmMap, .xShmLock = xShmLock, .xShmBarrier = xShmBarrier, .xShmUnmap = xShmUnmap,
};

static int xOpen(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    pthread_mutex_lock(&lock);
    sqlite3_vfs *system = below;
    pthread_mutex_unlock(&lock);
    File *mine = (File *)file;
    memset(mine, 0, sizeof *mine);
    mine->real = sqlite3_malloc(system->szOsFile);
    if (mine->real == NULL) return SQLITE_NOMEM;
    memset(mine->real, 0, (size_t)system->szOsFile);
    int code = system->xOpen(system, path, mine->real, flags, out);
    if (mine->real->pMethods == NULL) {
        sqlite3_free(mine->real);
        mine->real = NULL;
        return code;
    }
    mine->base.pMethods = &methods;
    return code;
}

int writebuffer_install(void) {
    pthread_mutex_lock(&lock);
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    int code = SQLITE_OK;
    if (found == NULL) {
        code = SQLITE_ERROR;
    } else if (found != &shim) {
        /* All but opening is done by the one below; where this stands in SQLite's list stays. */
        sqlite3_vfs next = *found;
        next.zName = "tollgate";
        next.szOsFile = sizeof(File);
        next.pNext = shim.pNext;
        next.xOpen = xOpen;
        shim = next;
        below = found;
        code = sqlite3_vfs_register(&shim, 1);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int writebuffer_begin(sqlite3 *database) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (file == NULL || file->pMethods != &methods) return SQLITE_OK;
    /* Elsewhere SQLite fills a commit up to a whole sector, in part after the flush. */
    if (!(xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE)) return SQLITE_OK;
    File *mine = (File *)file;
    if (mine->buffer == NULL) mine->buffer = sqlite3_malloc(CAPACITY);
    return mine->buffer ? SQLITE_OK : SQLITE_NOMEM;
}
