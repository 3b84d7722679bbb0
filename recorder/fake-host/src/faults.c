/* Preloaded by tests: what the recorder asks of the C library fails on demand. Nobody else's requests do, so that the
 * workload itself, and the fake it runs on, go on as they would. RECORDER is the file name of the recorder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

/* glibc's own names of the functions that are replaced here. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static size_t largest = SIZE_MAX;
static int clock_fails;
static int exit_handlers_fail;
static int marks_fail;

/* From now on the recorder is given at most so many bytes at once. */
void fault_memory(size_t bytes) { largest = bytes; }

/* Whether the recorder is told no time. */
void fault_clock(size_t fails) { clock_fails = fails != 0; }

/* Whether the recorder's exit handlers are refused. */
void fault_exit_handlers(size_t fails) { exit_handlers_fail = fails != 0; }

/* Whether the recorder may not write where a file is mapped, as under some policies for system calls. */
void fault_marks(size_t fails) { marks_fail = fails != 0; }

static int of_recorder(const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, RECORDER);
}

static int refused(size_t bytes, const void *caller) {
    if (bytes <= largest || !of_recorder(caller))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return refused(bytes, __builtin_return_address(0)) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) {
    return refused(count * bytes, __builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
    return refused(bytes, __builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (clock_fails && of_recorder(__builtin_return_address(0))) {
        errno = EINVAL;
        return -1;
    }
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, now);
}

int __cxa_atexit(void (*handler)(void *), void *argument, void *library) {
    static int (*real)(void (*)(void *), void *, void *);
    if (exit_handlers_fail && of_recorder(__builtin_return_address(0)))
        return -1;
    if (!real)
        real = (int (*)(void (*)(void *), void *, void *))dlsym(RTLD_NEXT, "__cxa_atexit");
    return real(handler, argument, library);
}

ssize_t process_vm_writev(pid_t process, const struct iovec *from, unsigned long from_count, const struct iovec *to,
                          unsigned long to_count, unsigned long flags) {
    static ssize_t (*real)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);
    if (marks_fail && of_recorder(__builtin_return_address(0))) {
        errno = ENOSYS;
        return -1;
    }
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "process_vm_writev");
    return real(process, from, from_count, to, to_count, flags);
}
