/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked as the command is that leaves this machine: each function that is called by an old version here does what it
 * should. Run by floor_test.sh; says what does not hold, and ends with 1.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a glibc of 2.38 and later makes of strtol and its like. */
long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...);
int fcntl64(int file, int command, ...);

static int constructors, wrong;

static void must(int holds, const char *what)
{
    if (!holds) {
        printf("not so: %s\n", what);
        wrong = 1;
    }
}
#define MUST(condition) must(condition, #condition)

__attribute__((constructor)) static void note(void)
{
    constructors++;
}

static void files(void)
{
    struct stat of_name, of_link, of_file;
    struct stat64 large;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    MUST(file >= 0 && stat("/proc/self/exe", &of_name) == 0 && lstat("/proc/self/exe", &of_link) == 0);
    MUST(fstat(file, &of_file) == 0);
    MUST(S_ISLNK(of_link.st_mode) && S_ISREG(of_name.st_mode) && of_name.st_size > 10000);
    MUST(of_file.st_ino == of_name.st_ino && of_file.st_size == of_name.st_size && of_link.st_ino != of_name.st_ino);
    MUST(stat64("/proc/self/exe", &large) == 0 && large.st_size == of_name.st_size);
    MUST(lstat64("/proc/self/exe", &large) == 0 && S_ISLNK(large.st_mode));
    MUST(fstat64(file, &large) == 0 && large.st_ino == of_name.st_ino);
    MUST(stat("/nothing/here", &of_name) == -1);
    MUST(fcntl64(file, F_GETFD) == FD_CLOEXEC && fcntl64(file, F_SETFD, 0) == 0 && fcntl64(file, F_GETFD) == 0);
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    MUST(fcntl64(file, F_SETLK, &lock) == 0);
    close(file);
}

static void numbers(void)
{
    char *end;
    int one = 0, two = 0;
    MUST(__isoc23_strtol("-12x", &end, 10) == -12 && strcmp(end, "x") == 0);
    MUST(__isoc23_strtoll("-7000000000", NULL, 10) == -7000000000);
    MUST(__isoc23_strtoul("0x10", NULL, 0) == 16);
    MUST(__isoc23_strtoull("18446744073709551615", NULL, 10) == 18446744073709551615ull);
    MUST(__isoc23_sscanf("3:4", "%d:%d", &one, &two) == 2 && one == 3 && two == 4);
    volatile double x = 2;
    MUST(fabs(exp(x) - 7.389056) < 1e-6 && fabs(log(x) - 0.693147) < 1e-6 && pow(x, 10) == 1024);
}

static pthread_rwlock_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int met;

static void meet(void)
{
    met++;
}

static void *body(void *argument)
{
    MUST(pthread_rwlock_tryrdlock(&lock) != 0);
    pthread_once(&once, meet);
    return argument;
}

static void threads(void)
{
    pthread_t thread;
    pthread_mutexattr_t kind;
    pthread_mutex_t mutex;
    void *result = NULL;
    MUST(pthread_rwlock_init(&lock, NULL) == 0 && pthread_rwlock_wrlock(&lock) == 0);
    MUST(pthread_create(&thread, NULL, body, &lock) == 0 && pthread_join(thread, &result) == 0 && result == &lock);
    MUST(pthread_once(&once, meet) == 0 && met == 1);
    MUST(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
    MUST(pthread_rwlock_destroy(&lock) == 0);
    MUST(pthread_mutexattr_init(&kind) == 0 && pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) == 0);
    MUST(pthread_mutex_init(&mutex, &kind) == 0 && pthread_mutexattr_destroy(&kind) == 0);
    MUST(pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_trylock(&mutex) == 0);
}

static void loader(void)
{
    struct link_map *map = NULL;
    Dl_info info;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    MUST(library != NULL && dlsym(library, "cos") != NULL && dlvsym(library, "cos", "GLIBC_2.2.5") != NULL);
    MUST(dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && strstr(map->l_name, "libm.so") != NULL);
    MUST(dladdr(dlsym(library, "cos"), &info) != 0 && strstr(info.dli_fname, "libm.so") != NULL);
    MUST(dlclose(library) == 0 && dlsym(RTLD_DEFAULT, "no_such_function") == NULL && dlerror() != NULL);
}

int main(void)
{
    MUST(constructors == 1);
    files();
    numbers();
    threads();
    loader();
    if (!wrong)
        puts("all hold");
    return wrong;
}
