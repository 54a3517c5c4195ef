// SPDX-License-Identifier: Apache-2.0
//
// Ways that processes use, between two threads: message queues, System V, shared memory, files and their locks. Called by
// the runner (table.c).

#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "tests/apps/handovers/handovers.h"

// ---- POSIX message queues ----

static mqd_t queue;

static void begin_queue(struct handover *h)
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[64];
    snprintf(name, sizeof name, "/handover.%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue == (mqd_t)-1)
        h->no = "no message queues";
    else
        mq_unlink(name);
}

static void end_queue(struct handover *h)
{
    (void)h;
    mq_close(queue);
}

static void queue_a(struct handover *h)
{
    give(h);
    mq_send(queue, "go", 2, 0);
}

static void queue_b(struct handover *h)
{
    char message[8];
    if (mq_receive(queue, message, sizeof message, NULL) == 2)
        take(h);
}

// A thread that libc makes when a message has come is the taker.
static void take_on_notice(union sigval value)
{
    struct handover *h = value.sival_ptr;
    take(h);
    __atomic_store_n(&h->step, 1, __ATOMIC_RELEASE);
}

static void queue_notifies(struct handover *h)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = take_on_notice};
    event.sigev_value.sival_ptr = h;
    if (mq_notify(queue, &event) != 0) {
        h->no = "no notices of messages";
        end_queue(h);
        return;
    }
    give(h);
    mq_send(queue, "go", 2, 0);
    while (!__atomic_load_n(&h->step, __ATOMIC_ACQUIRE))
        short_nap();
}

// ---- System V ----

struct message {
    long type;
    int value;
};

static int identifier;

static void begin_messages(struct handover *h)
{
    identifier = msgget(IPC_PRIVATE, 0600);
    if (identifier < 0)
        h->no = "no System V messages";
}

static void end_messages(struct handover *h)
{
    (void)h;
    msgctl(identifier, IPC_RMID, NULL);
}

static void message_a(struct handover *h)
{
    struct message m = {1, 1};
    give(h);
    msgsnd(identifier, &m, sizeof m.value, 0);
}

static void message_b(struct handover *h)
{
    struct message m;
    if (msgrcv(identifier, &m, sizeof m.value, 1, 0) == sizeof m.value)
        take(h);
}

static void begin_semaphore(struct handover *h)
{
    identifier = semget(IPC_PRIVATE, 1, 0600);
    if (identifier < 0 || semctl(identifier, 0, SETVAL, 0) != 0)
        h->no = "no System V semaphores";
}

static void end_semaphore(struct handover *h)
{
    (void)h;
    semctl(identifier, 0, IPC_RMID);
}

static void semaphore_a(struct handover *h)
{
    struct sembuf up = {0, 1, 0};
    give(h);
    semop(identifier, &up, 1);
}

static void semaphore_b(struct handover *h)
{
    struct sembuf down = {0, -1, 0};
    if (semop(identifier, &down, 1) == 0)
        take(h);
}

// ---- a word in shared memory, under two addresses ----

static int *words[2];

static void share(struct handover *h, int fd)
{
    if (fd < 0 || ftruncate(fd, 4096) != 0) {
        h->no = "no shared memory";
        return;
    }
    for (int i = 0; i < 2; i++)
        words[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (words[0] == MAP_FAILED || words[1] == MAP_FAILED)
        h->no = "no shared memory";
}

static void begin_shm(struct handover *h)
{
    char name[64];
    snprintf(name, sizeof name, "/handover.%d", (int)getpid());
    int fd = shm_open(name, O_CREAT | O_RDWR, 0600);
    shm_unlink(name);
    share(h, fd);
}

static void begin_memfd(struct handover *h)
{
    share(h, memfd_create("handover", MFD_CLOEXEC));
}

static void end_shared(struct handover *h)
{
    (void)h;
    for (int i = 0; i < 2; i++)
        munmap(words[i], 4096);
}

static void begin_system_v(struct handover *h)
{
    identifier = shmget(IPC_PRIVATE, 4096, 0600);
    for (int i = 0; i < 2; i++)
        words[i] = identifier < 0 ? (void *)-1 : shmat(identifier, NULL, 0);
    if (identifier >= 0)
        shmctl(identifier, IPC_RMID, NULL);
    if (words[0] == (void *)-1 || words[1] == (void *)-1)
        h->no = "no System V shared memory";
}

static void end_system_v(struct handover *h)
{
    (void)h;
    for (int i = 0; i < 2; i++)
        shmdt(words[i]);
}

static void shared_a(struct handover *h)
{
    give(h);
    __atomic_store_n(words[0], 1, __ATOMIC_RELEASE);
}

static void shared_b(struct handover *h)
{
    while (!__atomic_load_n(words[1], __ATOMIC_ACQUIRE))
        short_nap();
    take(h);
}

// ---- files ----

static char path[64];
static int writer, reader;

// Two open files of one name: their locks exclude each other.
static void begin_file(struct handover *h)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/handover.XXXXXX", folder && strlen(folder) < 40 ? folder : "/tmp");
    writer = mkostemp(path, O_CLOEXEC);
    reader = open(path, O_RDWR | O_CLOEXEC);
    if (writer < 0 || reader < 0)
        h->no = "no temporary file";
}

static void end_file(struct handover *h)
{
    (void)h;
    close(writer);
    close(reader);
    unlink(path);
}

static void file_a(struct handover *h)
{
    give(h);
    if (pwrite(writer, "x", 1, 0) != 1)
        h->no = "cannot write";
}

static void file_b(struct handover *h)
{
    for (char byte = 0; byte != 'x'; short_nap())
        if (pread(reader, &byte, 1, 0) != 1)
            byte = 0;
    take(h);
}

static void exists_a(struct handover *h)
{
    give(h);
    unlink(path);
}

static void exists_b(struct handover *h)
{
    while (access(path, F_OK) == 0)
        short_nap();
    take(h);
}

static void flock_a(struct handover *h)
{
    flock(writer, LOCK_EX);
    tell(&h->step);
    give(h);
    flock(writer, LOCK_UN);
}

static void flock_b(struct handover *h)
{
    await(&h->step);
    flock(reader, LOCK_EX);
    take(h);
    flock(reader, LOCK_UN);
}

static void range(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    fcntl(fd, F_OFD_SETLKW, &whole);
}

static void range_a(struct handover *h)
{
    range(writer, F_WRLCK);
    tell(&h->step);
    give(h);
    range(writer, F_UNLCK);
}

static void range_b(struct handover *h)
{
    await(&h->step);
    range(reader, F_WRLCK);
    take(h);
    range(reader, F_UNLCK);
}

static int notices;

static void begin_notices(struct handover *h)
{
    begin_file(h);
    notices = inotify_init1(IN_CLOEXEC);
    if (!h->no && inotify_add_watch(notices, path, IN_MODIFY) < 0)
        h->no = "no inotify";
}

static void end_notices(struct handover *h)
{
    close(notices);
    end_file(h);
}

static void notice_b(struct handover *h)
{
    char event[sizeof(struct inotify_event) + 256];
    if (read(notices, event, sizeof event) > 0)
        take(h);
}

const struct way ways_ipc[] = {
    {"mq_receive", {queue_a, queue_b}, begin_queue, end_queue},
    {"mq_notify", {queue_notifies}, begin_queue, end_queue},
    {"msgrcv", {message_a, message_b}, begin_messages, end_messages},
    {"semop", {semaphore_a, semaphore_b}, begin_semaphore, end_semaphore},
    {"shm_open", {shared_a, shared_b}, begin_shm, end_shared},
    {"memfd", {shared_a, shared_b}, begin_memfd, end_shared},
    {"shmat", {shared_a, shared_b}, begin_system_v, end_system_v},
    {"file-content", {file_a, file_b}, begin_file, end_file},
    {"file-unlinked", {exists_a, exists_b}, begin_file, end_file},
    {"flock", {flock_a, flock_b}, begin_file, end_file},
    {"ofd-lock", {range_a, range_b}, begin_file, end_file},
    {"inotify", {file_a, notice_b}, begin_notices, end_notices},
    {0},
};
