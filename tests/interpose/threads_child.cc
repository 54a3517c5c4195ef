/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA program that looks closely at what libc's functions for threads answer, and prints it. It must print the same
 * under the shim: threads_test.cc compares.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

CUcontext context;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t semaphore;
volatile int waiting;

void say(const char *what, int result)
{
    int error = errno;
    printf("%s %d errno %d\n", what, result, error);
    errno = 77;
}

void launch()
{
    cuLaunchKernel((CUfunction)0x11110, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    errno = 77;
}

timespec past()
{
    timespec at = {};
    return at;
}

void mutexes()
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t checking;
    timespec at = past();
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attributes);
    launch();
    say("lock", pthread_mutex_lock(&checking));
    say("lock again", pthread_mutex_lock(&checking));
    say("trylock", pthread_mutex_trylock(&checking));
    say("timedlock", pthread_mutex_timedlock(&checking, &at));
    launch();
    say("unlock", pthread_mutex_unlock(&checking));
    say("unlock again", pthread_mutex_unlock(&checking));
}

void conditions()
{
    timespec at = past();
    launch();
    pthread_mutex_lock(&mutex);
    say("timedwait", pthread_cond_timedwait(&condition, &mutex, &at));
    say("clockwait", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &at));
    launch();
    say("signal", pthread_cond_signal(&condition));
    say("broadcast", pthread_cond_broadcast(&condition));
    say("unlock", pthread_mutex_unlock(&mutex));
}

void semaphores()
{
    timespec at = past();
    launch();
    say("trywait", sem_trywait(&semaphore));
    say("timedwait", sem_timedwait(&semaphore, &at));
    say("clockwait", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at));
    say("post", sem_post(&semaphore));
    launch();
    say("wait", sem_wait(&semaphore));
}

void *returns(void *argument)
{
    launch();
    return argument;
}

void *exits(void *argument)
{
    cuCtxSetCurrent(context);
    launch();
    pthread_exit(argument);
}

void unlocks(void *)
{
    printf("cleaned up, unlock %d\n", pthread_mutex_unlock(&mutex));
}

void *waits_for_condition(void *)
{
    launch();
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlocks, nullptr);
    waiting = 1;
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
}

void *waits_for_semaphore(void *)
{
    launch();
    waiting = 1;
    for (;;)
        sem_wait(&semaphore);
}

void result_of(const char *what, void *(*routine)(void *), bool cancel)
{
    pthread_t thread;
    void *result = nullptr;
    waiting = 0;
    int created = pthread_create(&thread, nullptr, routine, &mutex);
    while (cancel && !waiting)
        usleep(100);
    if (cancel)
        pthread_cancel(thread);
    int joined = pthread_join(thread, &result);
    printf("%s: create %d join %d %s\n", what, created, joined,
           result == &mutex ? "argument" : (result == PTHREAD_CANCELED ? "cancelled" : "else"));
}

void refused()
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 46);
    for (int i = 0; i < 3; i++)
        say("create", pthread_create(&thread, &attributes, returns, nullptr));
    say("tryjoin self", pthread_tryjoin_np(pthread_self(), nullptr));
}

void forks()
{
    int status = 0;
    launch();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sem_post(&semaphore);
        sem_wait(&semaphore);
        pthread_mutex_lock(&mutex);
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        result_of("in the child", returns, false);
        fflush(stdout);
        _exit(5);
    }
    waitpid(child, &status, 0);
    say("child", status);
}

} // namespace

int main()
{
    if (cuInit(0) || cuCtxCreate(&context, nullptr, 0, 0))
        return 2;
    sem_init(&semaphore, 0, 0);
    mutexes();
    conditions();
    semaphores();
    result_of("returns", returns, false);
    result_of("exits", exits, false);
    result_of("cancelled in a condition", waits_for_condition, true);
    result_of("cancelled in a semaphore", waits_for_semaphore, true);
    refused();
    forks();
}
