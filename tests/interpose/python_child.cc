/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes itself for a CPython and calls the simulated driver out of functions of Python that it makes up in memory. argv[1]
 * is the version, 12 to 14 or another, argv[2] the situation. Each event record is a call to look at; knows nothing of the
 * shim.
 */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/interpose/fake_python.h"
#include "tests/interpose/simulated.h"

namespace
{

CUevent event;
CUresult expected = CUDA_SUCCESS;
int minor;

__attribute__((noinline)) void call_cuda()
{
    CUresult result = cuEventRecord(event, nullptr);
    if (result != expected)
        printf("WRONG %d\n", result);
    __asm__ volatile(""); /* no jump */
}

struct Function {
    char *code, *frame = fake::memory(96);
    explicit Function(const std::string &name, int first = 10)
        : code(fake::code(fake::text(name), fake::text("/src/app.py"), first))
    {
    }
    void stands(int instruction, const char *previous) const
    {
        fake::set_frame(frame, code, instruction, previous);
    }
};

/* outer -> inner -> CUDA, `times` times from two lines of each in turn; after the first of them `between`. */
template <class Between> void two_lines(char *thread, int times, Between between)
{
    Function inner("Class.inner"), outer("outer", 500);
    fake::enter([&](const char *entry) {
        fake::set_current(thread, inner.frame);
        for (int i = 0; i < times; i++) {
            for (int line = 0; line < 4; line++) {
                inner.stands(line % 2, outer.frame);
                outer.stands(line / 2 * 2, entry);
                call_cuda();
            }
            if (i == 0)
                between();
        }
    });
}
void two_lines(char *thread, int times = 3)
{
    two_lines(thread, times, [] {});
}

/* The child goes on in the same functions; what was numbered before it has to say anew. */
void forked(char *thread)
{
    pid_t child = -1;
    two_lines(thread, 3, [&] {
        fflush(stdout);
        child = fork();
        if (child == 0)
            expected = CUDA_ERROR_NOT_INITIALIZED; /* and is recorded as that */
    });
    if (child == 0)
        exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        puts("WRONG end of the child");
    printf("%d\n", child);
}

/* inner -> between -> outer, in two pages in turn; where outer is, the page between has another frame. `over`: each reaches
 * into the page behind it. */
void pages(char *thread, bool over)
{
    char *room = static_cast<char *>(mmap(nullptr, 20480, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Function inner("inner"), between("between", 100), outer("outer", 500), wrong("wrong");
    inner.frame = room + (over ? 4096 - 40 : 64);
    between.frame = inner.frame + 8192;
    outer.frame = inner.frame + (over ? 4096 : 256);
    wrong.frame = outer.frame + 8192;
    fake::enter([&](const char *entry) {
        fake::set_current(thread, inner.frame);
        wrong.stands(0, entry);
        between.stands(0, outer.frame);
        for (int i = 0; i < 12; i++) {
            inner.stands(i % 2, between.frame);
            outer.stands(i % 4 / 2 * 2, entry);
            call_cuda();
        }
    });
}

/* Functions without end, all of one name; then the first one again. */
void endless(char *thread, int count)
{
    Function inner("inner");
    fake::enter([&](const char *entry) {
        fake::set_current(thread, inner.frame);
        inner.stands(0, entry);
        for (int i = 0; i <= count; i++) {
            fake::put<int>(inner.code, 68, 10 + i % count);
            fake::put<uint32_t>(inner.code, 92, fake::code_version++);
            call_cuda();
        }
    });
}

/* A function in C between two of Python. */
void nested(char *thread)
{
    Function inner("inner"), outer("outer", 500);
    fake::enter([&](const char *first) {
        outer.stands(0, first);
        fake::set_current(thread, outer.frame);
        fake::enter(
            [&](const char *second) {
                inner.stands(1, second);
                fake::set_current(thread, inner.frame);
                call_cuda();
            },
            outer.frame);
    });
}

/* Every line of the table, and an instruction past its end. */
void lines(char *thread)
{
    Function inner("inner", 1000);
    fake::enter([&](const char *entry) {
        fake::set_current(thread, inner.frame);
        for (int i : {0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 16}) {
            inner.stands(i, entry);
            call_cuda();
        }
    });
}

/* Another function at the address of one that is gone. */
void recycled(char *thread)
{
    Function inner("first");
    fake::enter([&](const char *entry) {
        fake::set_current(thread, inner.frame);
        inner.stands(0, entry);
        for (int i = 0; i < 3; i++) {
            if (i == 2) {
                fake::put<uint64_t>(inner.code, 128, fake::address(fake::text("second")));
                fake::put<uint32_t>(inner.code, 92, fake::code_version++);
            }
            call_cuda();
        }
    });
}

void texts(char *thread)
{
    const char16_t wide[] = u"\u00e4\u65e5";
    const char32_t wider[] = {U'f', 0x1f600, 0xdcff};
    char *names[] = {fake::text_of("\xe4", 1, 1, false), fake::text_of(wide, 2, 2, false),
                     fake::text_of(wider, 3, 4, false), fake::text(std::string(5000, 'x'))};
    fake::enter([&](const char *entry) {
        for (char *name : names) {
            Function one("");
            one.code = fake::code(name, fake::text("/src/app.py"), 3);
            one.stands(0, entry);
            fake::set_current(thread, one.frame);
            call_cuda();
        }
    });
}

/* What the interpreter made for itself, which has no lines, is not shown. */
void shims(char *thread)
{
    Function inner("inner"), own("own"), outer("outer");
    char *name = fake::text("own");
    own.code = minor == 12 ? fake::code(name, name, 1, fake::bytes("")) : fake::code(name, name, 0);
    fake::enter([&](const char *entry) {
        inner.stands(0, own.frame);
        own.stands(0, outer.frame);
        outer.stands(0, entry);
        fake::set_current(thread, inner.frame);
        call_cuda();
    });
}

void deep(char *thread)
{
    std::vector<Function> all;
    for (int i = 0; i < 300; i++)
        all.emplace_back("deep" + std::to_string(i));
    fake::enter([&](const char *entry) {
        for (size_t i = 0; i < all.size(); i++)
            all[i].stands(0, i + 1 < all.size() ? all[i + 1].frame : entry);
        fake::set_current(thread, all[0].frame);
        for (int i = 0; i < 2; i++)
            call_cuda();
    });
}

/* inner -> broken -> outer; what is broken, `how` says. Twice, so that what was seen of it counts. */
void damaged(char *thread, const std::string &how)
{
    Function inner("inner"), broken("broken"), outer("outer");
    char *gone = static_cast<char *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    fake::enter([&](const char *entry) {
        inner.stands(0, broken.frame);
        broken.stands(0, outer.frame);
        outer.stands(0, entry);
        if (how == "loop")
            outer.stands(0, inner.frame);
        else if (how == "self")
            inner.stands(0, inner.frame);
        else if (how == "frame")
            inner.stands(0, gone + 64);
        else if (how == "odd")
            inner.stands(0, broken.frame + 3);
        else if (how == "end")
            inner.stands(0, gone - 8); /* it begins in memory that is there, or not */
        else if (how == "code")
            broken.code = gone, broken.stands(0, outer.frame);
        else if (how == "type")
            fake::put<uint64_t>(broken.code, 8, fake::address(PyBytes_Type));
        else if (how == "name")
            fake::put<uint64_t>(broken.code, 128, fake::address(broken.code));
        else if (how == "file")
            fake::put<uint64_t>(broken.code, 112, fake::address(gone));
        else if (how == "long")
            fake::put<uint64_t>(fake::get<char *>(broken.code, 112), 16, ~0ull >> 8);
        else if (how == "lines")
            fake::put<uint64_t>(broken.code, 136, fake::address(gone));
        else if (how == "table")
            fake::put<uint64_t>(broken.code, 136, fake::address(fake::bytes("\x01\x02\x03")));
        else if (how == "thread")
            pthread_setspecific(fake::key, gone);
        fake::set_current(thread, how == "current" ? gone : inner.frame);
        for (int i = 0; i < 2; i++)
            call_cuda();
    });
}

/* The frames go away under a thread that the interpreter's end has overtaken; it goes on with its calls. `alone`: nothing
 * was read after them. */
void taken_away(char *thread, bool alone)
{
    char *page = static_cast<char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Function inner("inner");
    inner.frame = page;
    fake::enter([&](const char *entry) {
        inner.stands(0, alone ? nullptr : entry);
        fake::set_current(thread, inner.frame);
        for (int i = 0; i < 3; i++) {
            if (i == 2)
                munmap(page, 4096);
            call_cuda();
        }
    });
}

/* As at the interpreter's end. */
void finalizing(char *thread)
{
    two_lines(thread, 1);
    fake::put<uint64_t>(_PyRuntime, fake::version->finalizing, 1);
    two_lines(thread, 1);
    fake::put<uint32_t>(_PyRuntime, 2160, 0);
    two_lines(thread, 1);
}

void situation(const std::string &what, char *thread, const std::string &how)
{
    if (what == "lines")
        lines(thread);
    else if (what == "nested")
        nested(thread);
    else if (what == "forked")
        forked(thread);
    else if (what == "pages" || what == "page-ends")
        pages(thread, what == "page-ends");
    else if (what == "endless")
        endless(thread, 32768 + 2);
    else if (what == "recycled")
        recycled(thread);
    else if (what == "texts")
        texts(thread);
    else if (what == "shims")
        shims(thread);
    else if (what == "deep")
        deep(thread);
    else if (what == "damaged")
        damaged(thread, how);
    else if (what == "taken-away")
        taken_away(thread, how == "alone");
    else if (what == "finalizing")
        finalizing(thread);
    else
        two_lines(thread);
}

} // namespace

int main(int argc, char **argv)
{
    minor = atoi(argv[1]);
    std::string what = argv[2], how = argc > 3 ? argv[3] : "";
    fake::Version which = fake::versions[minor >= 12 && minor <= 14 ? minor - 12 : 2];
    which.number = (which.number & 0xff00ffff) | static_cast<unsigned>(minor) << 16;
    if (how == "alpha")
        which.number = (which.number & ~0xffu) | 0xa1;
    fake::make_runtime(which, how == "free-threaded");
    if (how == "cookie")
        _PyRuntime[0]++;
    if (how == "other-version")
        _PyRuntime[1]++;
    start();
    CU(cuEventCreate(&event, 0));
    char *first = fake::first_thread();
    if (how == "worker" || what == "taken-away")
        std::thread([&] {
            CU(cuCtxSetCurrent(context));
            situation(what, fake::thread_state(fake::memory(512)), how);
        }).join();
    else if (how == "stranger")
        std::thread([&] {
            CU(cuCtxSetCurrent(context));
            char *nobodys = fake::thread_state(fake::memory(512));
            pthread_setspecific(fake::key, nullptr);
            situation(what, nobodys, how);
        }).join();
    else
        situation(what, first, how);
    puts("done");
    return 0;
}
