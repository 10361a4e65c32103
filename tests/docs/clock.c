/* A clock that is CLOCK_OFFSET seconds ahead, for processes that start with this library in LD_PRELOAD.

   libfaketime does the same and more. It also shifts the monotonic clock, by which Python waits: depending on its
   version either sleeps fail or locks with a timeout never end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int (*real_clock)(clockid_t, struct timespec *);
static time_t offset;

__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv("CLOCK_OFFSET");
    offset = given ? atoll(given) : 0;
    real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!real_clock)
        begin(); /* another library's constructor asks before ours has run */
    int result = real_clock(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

time_t time(time_t *kept)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (kept)
        *kept = now.tv_sec;
    return now.tv_sec;
}
