// SPDX-License-Identifier: Apache-2.0
//
// Ways of file descriptors: pipes, sockets, event fds, and the calls that wait for several of them. Called by the runner
// (table.c).

#include <arpa/inet.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "tests/apps/handovers/handovers.h"

extern char **environ;

static int from, to; // the giver writes to `to`, the taker reads at `from`
static pid_t child;

static void begin_pipe(struct handover *h)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        h->no = "no pipe";
    from = ends[0];
    to = ends[1];
}

static void begin_pair(struct handover *h, int type)
{
    int ends[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
        h->no = "no socket pair";
    from = ends[0];
    to = ends[1];
}

static void begin_stream(struct handover *h)
{
    begin_pair(h, SOCK_STREAM);
}

static void begin_datagram(struct handover *h)
{
    begin_pair(h, SOCK_DGRAM);
}

// Two sockets on the loopback interface, connected to each other.
static void begin_udp(struct handover *h)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(from, (struct sockaddr *)&address, size) != 0 || getsockname(from, (struct sockaddr *)&address, &size) != 0 ||
        connect(to, (struct sockaddr *)&address, size) != 0)
        h->no = "no loopback";
}

static void begin_eventfd(struct handover *h)
{
    to = from = eventfd(0, EFD_CLOEXEC);
    if (from < 0)
        h->no = "no event fd";
}

static void begin_counting(struct handover *h)
{
    to = from = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (from < 0)
        h->no = "no event fd";
}

static void end_both(struct handover *h)
{
    (void)h;
    close(from);
    if (to != from)
        close(to);
}

// ---- the parts ----

static const unsigned long long ONE = 1;

static void write_a(struct handover *h)
{
    app_sleep_ms(1); // so that the taker sleeps
    give(h);
    if (write(to, &ONE, sizeof ONE) != sizeof ONE)
        h->no = "cannot write";
}

static void must_read(struct handover *h)
{
    unsigned long long value = 0;
    if (read(from, &value, sizeof value) == sizeof value && value == 1)
        take(h);
}

static void send_a(struct handover *h)
{
    give(h);
    if (send(to, &ONE, sizeof ONE, 0) != sizeof ONE)
        h->no = "cannot send";
}

static void receive_b(struct handover *h)
{
    unsigned long long value = 0;
    if (recv(from, &value, sizeof value, 0) == sizeof value)
        take(h);
}

static void poll_b(struct handover *h)
{
    struct pollfd ready = {.fd = from, .events = POLLIN};
    while (poll(&ready, 1, 10000) != 1)
        ;
    must_read(h);
}

// Only looks whether it could read, and never does.
static void poll_only_b(struct handover *h)
{
    struct pollfd ready = {.fd = from, .events = POLLIN};
    while (poll(&ready, 1, 0) != 1)
        short_nap();
    take(h);
}

static void select_b(struct handover *h)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(from, &set);
    if (select(from + 1, &set, NULL, NULL, NULL) == 1)
        must_read(h);
}

static void epoll_b(struct handover *h)
{
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = from}, ready;
    int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(set, EPOLL_CTL_ADD, from, &wanted);
    while (epoll_wait(set, &ready, 1, 10000) != 1)
        ;
    close(set);
    must_read(h);
}

// The other end is gone, which is all that is told.
static void close_a(struct handover *h)
{
    give(h);
    close(to);
    to = from; // closed once
}

static void end_of_file_b(struct handover *h)
{
    char byte;
    if (read(from, &byte, 1) == 0)
        take(h);
}

// The pipe is full; the giver makes room, and that the taker's write fits tells it.
static void fill_pipe(struct handover *h)
{
    static const char block[4096];
    begin_pipe(h);
    fcntl(to, F_SETFL, O_NONBLOCK);
    while (write(to, block, sizeof block) > 0)
        ;
    fcntl(to, F_SETFL, 0);
}

static void drain_a(struct handover *h)
{
    static char block[4096];
    give(h);
    if (read(from, block, sizeof block) != sizeof block)
        h->no = "cannot read";
}

static void room_b(struct handover *h)
{
    static const char block[4096];
    if (write(to, block, sizeof block) == sizeof block)
        take(h);
}

// ---- another process in between: cat ----

static void begin_cat(struct handover *h)
{
    int in[2], out[2];
    char *arguments[] = {"cat", NULL};
    posix_spawn_file_actions_t actions;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        h->no = "no pipe";
        return;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (posix_spawnp(&child, "cat", &actions, NULL, arguments, environ) != 0)
        h->no = "no cat";
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to = in[1];
    from = out[0];
}

static void end_cat(struct handover *h)
{
    end_both(h);
    waitpid(child, NULL, 0);
}

const struct way ways_descriptor[] = {
    {"pipe", {write_a, must_read}, begin_pipe, end_both},
    {"pipe-closed", {close_a, end_of_file_b}, begin_pipe, end_both},
    {"pipe-room", {drain_a, room_b}, fill_pipe, end_both},
    {"socketpair", {send_a, receive_b}, begin_stream, end_both},
    {"socketpair-datagram", {send_a, receive_b}, begin_datagram, end_both},
    {"udp", {send_a, receive_b}, begin_udp, end_both},
    {"eventfd", {write_a, must_read}, begin_eventfd, end_both},
    {"eventfd-semaphore", {write_a, must_read}, begin_counting, end_both},
    {"epoll", {write_a, epoll_b}, begin_eventfd, end_both},
    {"poll", {write_a, poll_b}, begin_eventfd, end_both},
    {"poll-only", {write_a, poll_only_b}, begin_eventfd, end_both},
    {"select", {write_a, select_b}, begin_pipe, end_both},
    {"process-between", {write_a, must_read}, begin_cat, end_cat},
    {0},
};
