#include "powercut.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECTOR = 512 };

/* A sector of a write, or a truncation (no data), that was not flushed yet. */
typedef struct Pending {
    struct Pending *next;
    sqlite3_int64 offset;
    int length;
    char *data;
} Pending;

/* A file as the disk has it, and what was done to it since. */
typedef struct Image {
    struct Image *next;
    char *path;
    char *bytes;
    sqlite3_int64 size;
    sqlite3_int64 capacity;
    int exists;
    long writes;
    Pending *first, **last;
} Image;

typedef struct File {
    sqlite3_file base;
    Image *image;
    sqlite3_file *real;
} File;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Tells of a write below `awaited`, and of the end of the cut that waited for it. */
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static const char *awaited;
static Image *images;
static sqlite3_vfs *system_vfs;
static sqlite3_vfs shim;
static char watched[256];
/* Files whose path contains this take no more; empty: none. */
static char filled[256];
static sqlite3_io_methods methods;

static void grow(Image *image, sqlite3_int64 size) {
    if (size > image->capacity) {
        image->capacity = size * 2;
        image->bytes = realloc(image->bytes, (size_t)image->capacity);
    }
    if (size > image->size) {
        memset(image->bytes + image->size, 0, (size_t)(size - image->size));
        image->size = size;
    }
}

static void apply(Image *image, const Pending *pending, int length) {
    if (pending->data == NULL) {
        if (pending->offset < image->size) image->size = pending->offset;
        return;
    }
    grow(image, pending->offset + length);
    memcpy(image->bytes + pending->offset, pending->data, (size_t)length);
}

static void drop(Image *image) {
    while (image->first) {
        Pending *next = image->first->next;
        free(image->first->data);
        free(image->first);
        image->first = next;
    }
    image->last = &image->first;
}

static void append(Image *image, sqlite3_int64 offset, const void *data, int length) {
    Pending *pending = calloc(1, sizeof *pending);
    pending->offset = offset;
    pending->length = length;
    if (data) {
        pending->data = malloc((size_t)length + 1);
        memcpy(pending->data, data, (size_t)length);
    }
    *image->last = pending;
    image->last = &pending->next;
}

static Image *find(const char *path, int make) {
    for (Image *image = images; image; image = image->next)
        if (strcmp(image->path, path) == 0) return image;
    if (!make) return NULL;
    Image *image = calloc(1, sizeof *image);
    image->path = strdup(path);
    image->last = &image->first;
    image->next = images;
    images = image;
    FILE *file = fopen(path, "rb");
    if (file) {
        char part[65536];
        size_t count;
        while ((count = fread(part, 1, sizeof part, file)) > 0) {
            sqlite3_int64 at = image->size;
            grow(image, at + (sqlite3_int64)count);
            memcpy(image->bytes + at, part, count);
        }
        fclose(file);
    }
    return image;
}

#define REAL(file) (((File *)(file))->real)

static int xClose(sqlite3_file *file) { return REAL(file)->pMethods->xClose(REAL(file)); }
static int xRead(sqlite3_file *file, void *to, int count, sqlite3_int64 offset) {
    return REAL(file)->pMethods->xRead(REAL(file), to, count, offset);
}
static int xWrite(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset) {
    Image *image = ((File *)file)->image;
    pthread_mutex_lock(&lock);
    int is_full = image && filled[0] && strstr(image->path, filled);
    int code = is_full ? SQLITE_FULL
                       : REAL(file)->pMethods->xWrite(REAL(file), from, count, offset);
    if (code == SQLITE_OK && image) {
        image->writes++;
        /* A disk keeps or loses each of its sectors. */
        for (int done = 0; done < count;) {
            int part = SECTOR - (int)((offset + done) % SECTOR);
            if (part > count - done) part = count - done;
            append(image, offset + done, (const char *)from + done, part);
            done += part;
        }
    }
    if (image && awaited && strncmp(image->path, awaited, strlen(awaited)) == 0) {
        pthread_cond_broadcast(&change);
        while (awaited) pthread_cond_wait(&change, &lock);
    }
    pthread_mutex_unlock(&lock);
    return code;
}
static int xTruncate(sqlite3_file *file, sqlite3_int64 size) {
    Image *image = ((File *)file)->image;
    pthread_mutex_lock(&lock);
    int code = REAL(file)->pMethods->xTruncate(REAL(file), size);
    if (code == SQLITE_OK && image) append(image, size, NULL, 0);
    pthread_mutex_unlock(&lock);
    return code;
}
static int xSync(sqlite3_file *file, int flags) {
    /* The real flush would only cost time: what counts is what is remembered here. */
    (void)flags;
    Image *image = ((File *)file)->image;
    if (!image) return REAL(file)->pMethods->xSync(REAL(file), flags);
    pthread_mutex_lock(&lock);
    for (Pending *pending = image->first; pending; pending = pending->next)
        apply(image, pending, pending->length);
    drop(image);
    image->exists = 1;
    pthread_mutex_unlock(&lock);
    return SQLITE_OK;
}
static int xFileSize(sqlite3_file *file, sqlite3_int64 *size) {
    return REAL(file)->pMethods->xFileSize(REAL(file), size);
}
static int xLock(sqlite3_file *file, int level) {
    return REAL(file)->pMethods->xLock(REAL(file), level);
}
static int xUnlock(sqlite3_file *file, int level) {
    return REAL(file)->pMethods->xUnlock(REAL(file), level);
}
static int xCheckReservedLock(sqlite3_file *file, int *result) {
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}
static int xFileControl(sqlite3_file *file, int operation, void *argument) {
    int code = REAL(file)->pMethods->xFileControl(REAL(file), operation, argument);
    if (operation == SQLITE_FCNTL_VFSNAME && code == SQLITE_OK) {
        char **name = argument;
        *name = sqlite3_mprintf("%s/%z", shim.zName, *name);
    }
    return code;
}
static int xSectorSize(sqlite3_file *file) {
    return REAL(file)->pMethods->xSectorSize ? REAL(file)->pMethods->xSectorSize(REAL(file)) : 512;
}
/* As of a disk: a write that is torn leaves what lies beside it alone. Of writes that were not
   flushed nothing else is promised. */
static int xDeviceCharacteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}
static int xShmMap(sqlite3_file *file, int page, int size, int extend, void volatile **to) {
    return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, to);
}
static int xShmLock(sqlite3_file *file, int offset, int count, int flags) {
    return REAL(file)->pMethods->xShmLock(REAL(file), offset, count, flags);
}
static void xShmBarrier(sqlite3_file *file) { REAL(file)->pMethods->xShmBarrier(REAL(file)); }
static int xShmUnmap(sqlite3_file *file, int remove) {
    return REAL(file)->pMethods->xShmUnmap(REAL(file), remove);
}

static int xOpen(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    if (path == NULL || strstr(path, watched) == NULL)
        return system_vfs->xOpen(system_vfs, path, file, flags, out);
    File *wrapper = (File *)file;
    memset(wrapper, 0, sizeof *wrapper);
    wrapper->real = (sqlite3_file *)(wrapper + 1);
    int code = system_vfs->xOpen(system_vfs, path, wrapper->real, flags, out);
    if (wrapper->real->pMethods == NULL) return code;
    pthread_mutex_lock(&lock);
    wrapper->image = find(path, 1);
    pthread_mutex_unlock(&lock);
    wrapper->base.pMethods = &methods;
    return code;
}

static int xDelete(sqlite3_vfs *vfs, const char *path, int sync) {
    (void)vfs;
    pthread_mutex_lock(&lock);
    Image *image = find(path, 0);
    if (image) {
        drop(image);
        image->size = 0;
        image->exists = 0;
    }
    pthread_mutex_unlock(&lock);
    return system_vfs->xDelete(system_vfs, path, sync);
}

int powercut_install(const char *part) {
    static int installed;
    pthread_mutex_lock(&lock);
    if (!installed) {
        installed = 1;
        snprintf(watched, sizeof watched, "%s", part);
        /* Not the default, which may be one that goes through this one. */
        system_vfs = sqlite3_vfs_find("unix");
        shim = *system_vfs;
        shim.zName = "powercut";
        shim.szOsFile = system_vfs->szOsFile + (int)sizeof(File);
        shim.pNext = NULL;
        shim.xOpen = xOpen;
        shim.xDelete = xDelete;
        methods = (sqlite3_io_methods){
            .iVersion = 2, .xClose = xClose, .xRead = xRead, .xWrite = xWrite,
            .xTruncate = xTruncate, .xSync = xSync, .xFileSize = xFileSize, .xLock = xLock,
            .xUnlock = xUnlock, .xCheckReservedLock = xCheckReservedLock,
            .xFileControl = xFileControl, .xSectorSize = xSectorSize,
            .xDeviceCharacteristics = xDeviceCharacteristics, .xShmMap = xShmMap,
            .xShmLock = xShmLock, .xShmBarrier = xShmBarrier, .xShmUnmap = xShmUnmap,
        };
    }
    pthread_mutex_unlock(&lock);
    return sqlite3_vfs_register(&shim, 1);
}

long powercut_writes(const char *part) {
    long writes = 0;
    pthread_mutex_lock(&lock);
    for (Image *image = images; image; image = image->next)
        if (strstr(image->path, part)) writes += image->writes;
    pthread_mutex_unlock(&lock);
    return writes;
}

void powercut_fill(const char *part) {
    pthread_mutex_lock(&lock);
    snprintf(filled, sizeof filled, "%s", part);
    pthread_mutex_unlock(&lock);
}

static unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int is_unflushed(const char *folder) {
    for (Image *image = images; image; image = image->next)
        if (image->first && strncmp(image->path, folder, strlen(folder)) == 0) return 1;
    return 0;
}

long powercut_cut(const char *folder, const char *destination, unsigned seed) {
    long lost = 0;
    pthread_mutex_lock(&lock);
    if (next_random(&seed) % 2) {
        /* Between a write and its flush. */
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        awaited = folder;
        int waited = 0;
        while (!is_unflushed(folder) && waited == 0)
            waited = pthread_cond_timedwait(&change, &lock, &until);
    }
    for (Image *image = images; image; image = image->next) {
        const char *name = strrchr(image->path, '/');
        if (strncmp(image->path, folder, strlen(folder)) != 0 || name == NULL) continue;
        if (image->size == 0 && image->first == NULL) continue;
        Image left = {0};
        grow(&left, image->size);
        if (image->size) memcpy(left.bytes, image->bytes, (size_t)image->size);
        /* Of what was not flushed, some came through, in any order, and some was torn. */
        for (Pending *pending = image->first; pending; pending = pending->next) {
            unsigned chance = next_random(&seed) % 4;
            if (chance == 0) {
                apply(&left, pending, pending->length);
            } else if (chance == 1 && pending->data && pending->length > 1) {
                apply(&left, pending, 1 + (int)(next_random(&seed) % (unsigned)pending->length) / 2);
                lost++;
            } else {
                lost++;
            }
        }
        char path[4096];
        snprintf(path, sizeof path, "%s%s", destination, name);
        FILE *file = fopen(path, "wb");
        if (!file || (left.size && fwrite(left.bytes, 1, (size_t)left.size, file) != (size_t)left.size))
            lost = -1;
        if (file) fclose(file);
        free(left.bytes);
        if (lost < 0) break;
    }
    awaited = NULL;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    return lost;
}

void powercut_forget(const char *folder) {
    pthread_mutex_lock(&lock);
    Image **place = &images;
    while (*place) {
        Image *image = *place;
        if (strncmp(image->path, folder, strlen(folder)) == 0) {
            *place = image->next;
            drop(image);
            free(image->bytes);
            free(image->path);
            free(image);
        } else {
            place = &image->next;
        }
    }
    pthread_mutex_unlock(&lock);
}
