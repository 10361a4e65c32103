/* What a process does to files below STRIKE_ROOT, for processes that start with this library in LD_PRELOAD.

   With STRIKE_AT=n the process is killed before its n-th change. With STRIKE_LOG every change is written there, in the
   form that power_loss.py reads. Processes that this one starts are left alone. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[PATH_MAX];
static long left;
static int log_to = -1;

struct change { /* then path, other path and data */
    uint64_t kind, file, offset, length, path, other;
};

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("STRIKE_AT"), *log = getenv("STRIKE_LOG"), *below = getenv("STRIKE_ROOT");
    left = at ? atol(at) : 0;
    if (below && !realpath(below, root))
        abort();
    if (log)
        log_to = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    unsetenv("LD_PRELOAD");
}

static int counts(const char *path)
{
    size_t length = strlen(root);
    return length && !strncmp(path, root, length) && path[length] == '/';
}

static int strike(const char *path)
{
    if (!counts(path))
        return 0;
    if (left && --left == 0) {
        kill(getpid(), SIGKILL);
        pause();
    }
    return 1;
}

static void note(char kind, const char *path, const char *other, uint64_t file, uint64_t offset, const void *data,
                 size_t length)
{
    struct change change = {kind, file, offset, length, strlen(path), strlen(other)};
    if (log_to < 0)
        return;
    if (syscall(SYS_write, log_to, &change, sizeof change) != sizeof change ||
        syscall(SYS_write, log_to, path, change.path) < 0 || syscall(SYS_write, log_to, other, change.other) < 0 ||
        (data && syscall(SYS_write, log_to, data, length) != (long)length))
        abort();
}

static void path_at(int folder, const char *name, char *path)
{
    char parent[PATH_MAX] = "", link[64];
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, parent, sizeof parent - 1);
    parent[length < 0 ? 0 : length] = 0;
    snprintf(path, PATH_MAX, *name ? "%.2000s/%.2000s" : "%.2000s%.2000s", parent, name);
}

static void path_of(int file, char *path)
{
    path_at(file, "", path);
}

static uint64_t number_of(int file)
{
    struct stat told = {0};
    fstat(file, &told);
    return told.st_ino;
}

static int opened(int folder, const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    struct stat before;
    int is_new = 0, cuts = 0, strikes = 0;
    if (flags & (O_CREAT | O_TRUNC) && (flags & O_TMPFILE) != O_TMPFILE) {
        path_at(folder, name, path);
        is_new = stat(path, &before) != 0;
        cuts = !is_new && flags & O_TRUNC && before.st_size;
        strikes = (is_new || cuts) && strike(path);
    }
    int file = syscall(SYS_openat, folder, name, flags, mode);
    if (file >= 0 && strikes)
        note(is_new ? 'c' : 't', path, "", number_of(file), 0, NULL, 0);
    return file;
}

#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                     \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *name, int flags, ...)
{
    MODE(flags)
    return opened(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...)
{
    MODE(flags)
    return opened(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char *name, int flags, ...)
{
    MODE(flags)
    return opened(folder, name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...)
{
    MODE(flags)
    return opened(folder, name, flags, mode);
}

static ssize_t written(int file, const void *data, size_t length, off_t offset, int is_here)
{
    char path[PATH_MAX];
    struct stat told;
    if (fstat(file, &told) || !S_ISREG(told.st_mode) || file == log_to)
        return is_here ? syscall(SYS_write, file, data, length) : syscall(SYS_pwrite64, file, data, length, offset);
    path_of(file, path);
    int strikes = strike(path);
    if (is_here)
        offset = fcntl(file, F_GETFL) & O_APPEND ? told.st_size : lseek(file, 0, SEEK_CUR);
    ssize_t done = is_here ? syscall(SYS_write, file, data, length) : syscall(SYS_pwrite64, file, data, length, offset);
    if (done > 0 && strikes)
        note('w', path, "", told.st_ino, offset, data, done);
    return done;
}

ssize_t write(int file, const void *data, size_t length)
{
    return written(file, data, length, 0, 1);
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset)
{
    return written(file, data, length, offset, 0);
}

ssize_t pwrite64(int file, const void *data, size_t length, off_t offset)
{
    return written(file, data, length, offset, 0);
}

static int of_file(char kind, int file, long call, off_t size)
{
    char path[PATH_MAX];
    path_of(file, path);
    int strikes = strike(path);
    int result = kind == 't' ? syscall(call, file, size) : syscall(call, file);
    if (result == 0 && strikes)
        note(kind, path, "", number_of(file), size, NULL, 0);
    return result;
}

int ftruncate(int file, off_t size)
{
    return of_file('t', file, SYS_ftruncate, size);
}

int ftruncate64(int file, off_t size)
{
    return of_file('t', file, SYS_ftruncate, size);
}

int fsync(int file)
{
    return of_file('s', file, SYS_fsync, 0);
}

int fdatasync(int file)
{
    return of_file('d', file, SYS_fdatasync, 0);
}

static int of_name(char kind, int folder, const char *name, int other_folder, const char *other_name, int flags)
{
    char path[PATH_MAX], other[PATH_MAX] = "";
    path_at(folder, name, path);
    if (other_name)
        path_at(other_folder, other_name, other);
    int strikes = strike(path), result = -1;
    if (kind == 'r')
        result = syscall(SYS_renameat2, folder, name, other_folder, other_name, 0);
    else if (kind == 'l')
        result = syscall(SYS_linkat, folder, name, other_folder, other_name, flags);
    else if (kind == 'u')
        result = syscall(SYS_unlinkat, folder, name, flags);
    if (result == 0 && strikes)
        note(flags & AT_REMOVEDIR && kind == 'u' ? 'x' : kind, path, other, 0, 0, NULL, 0);
    return result;
}

int rename(const char *name, const char *other)
{
    return of_name('r', AT_FDCWD, name, AT_FDCWD, other, 0);
}

int link(const char *name, const char *other)
{
    return of_name('l', AT_FDCWD, name, AT_FDCWD, other, 0);
}

int linkat(int folder, const char *name, int other_folder, const char *other, int flags)
{
    return of_name('l', folder, name, other_folder, other, flags);
}

int unlink(const char *name)
{
    return of_name('u', AT_FDCWD, name, 0, NULL, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
    return of_name('u', folder, name, 0, NULL, flags);
}

int rmdir(const char *name)
{
    return of_name('u', AT_FDCWD, name, 0, NULL, AT_REMOVEDIR);
}
