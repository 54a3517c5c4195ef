// SPDX-License-Identifier: Apache-2.0
//
// The text language of trace_builder.h. Used by tests only; throws on whatever it does not know, so that a typing mistake
// in a rule's trace is no silent pass.
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "tests/support/trace_builder.h"

namespace ptds
{

namespace
{

struct Operation {
    const char *name;
    uint32_t op;
    const char *api;
};

const Operation operations[] = {
    {"launch", PTDS_OP_LAUNCH, "cuLaunchKernel"},
    {"copy", PTDS_OP_COPY, nullptr},
    {"memset", PTDS_OP_MEMSET, nullptr},
    {"record", PTDS_OP_EVENT_RECORD, "cuEventRecord"},
    {"wait", PTDS_OP_EVENT_WAIT, "cuStreamWaitEvent"},
    {"host-function", PTDS_OP_HOST_FUNCTION, "cuLaunchHostFunc"},
    {"graph-launch", PTDS_OP_GRAPH_LAUNCH, "cuGraphLaunch"},
    {"sync", PTDS_OP_STREAM_SYNC, "cuStreamSynchronize"},
    {"query", PTDS_OP_STREAM_QUERY, "cuStreamQuery"},
    {"event-sync", PTDS_OP_EVENT_SYNC, "cuEventSynchronize"},
    {"event-query", PTDS_OP_EVENT_QUERY, "cuEventQuery"},
    {"event-create", PTDS_OP_EVENT_CREATE, "cuEventCreate"},
    {"event-destroy", PTDS_OP_EVENT_DESTROY, "cuEventDestroy_v2"},
    {"elapsed", PTDS_OP_EVENT_ELAPSED, "cuEventElapsedTime"},
    {"alloc", PTDS_OP_ALLOC, "cuMemAlloc_v2"},
    {"alloc-host", PTDS_OP_ALLOC, "cuMemHostAlloc"},
    {"register", PTDS_OP_ALLOC, "cuMemHostRegister_v2"},
    {"alloc-async", PTDS_OP_ALLOC_ASYNC, "cuMemAllocAsync"},
    {"free-async", PTDS_OP_FREE_ASYNC, "cuMemFreeAsync"},
    {"config", PTDS_OP_CONFIG, "cuCtxSetFlags"},
    {"ctx-create", PTDS_OP_CTX_CREATE, "cuCtxCreate_v2"},
    {"ctx-sync", PTDS_OP_CTX_SYNC, "cuCtxSynchronize"},
    {"write-value", PTDS_OP_WRITE_VALUE, "cuStreamWriteValue32_v2"},
    {"wait-value", PTDS_OP_WAIT_VALUE, "cuStreamWaitValue32_v2"},
    {"free", PTDS_OP_FREE, "cuMemFree_v2"},
    {"free-host", PTDS_OP_FREE_HOST, "cuMemFreeHost"},
    {"unregister", PTDS_OP_UNREGISTER, "cuMemHostUnregister"},
    {"array-destroy", PTDS_OP_ARRAY_DESTROY, "cuArrayDestroy"},
    {"unmap", PTDS_OP_UNMAP, "cuMemUnmap"},
    {"attach", PTDS_OP_ATTACH, "cuStreamAttachMemAsync"},
    {"module-load", PTDS_OP_MODULE_LOAD, "cuModuleLoadData"},
    {"module-unload", PTDS_OP_MODULE_UNLOAD, "cuModuleUnload"},
    {"function-load", PTDS_OP_FUNCTION_LOAD, "cuFuncLoad"},
    {"stream-create", PTDS_OP_STREAM_CREATE, "cuStreamCreate"},
    {"ctx-limit", PTDS_OP_CTX_LIMIT, "cuCtxSetLimit"},
    {"capture-begin", PTDS_OP_CAPTURE_BEGIN, "cuStreamBeginCapture_v2"},
    {"capture-end", PTDS_OP_CAPTURE_END, "cuStreamEndCapture"},
    {"opaque", PTDS_OP_OPAQUE, "cuGraphicsMapResources"},
    {"none", PTDS_OP_NONE, "cuCtxGetCurrent"},
};

const std::map<std::string, uint32_t> &Words()
{
    static const std::map<std::string, uint32_t> words = {
        {"implicit", PTDS_CALL_IMPLICIT},
        {"twin", PTDS_CALL_TWIN},
        {"explicit", PTDS_CALL_EXPLICIT},
        {"capturing", PTDS_CALL_CAPTURING},
        {"capture-open", PTDS_CALL_CAPTURE_OPEN},
        {"kept-capture", PTDS_CALL_KEPT_CAPTURE},
        {"kept-refused", PTDS_CALL_KEPT_REFUSED},
        {"kept-excluded", PTDS_CALL_KEPT_EXCLUDED},
        {"kept-no-way", PTDS_CALL_KEPT_NO_WAY},
        {"opaque", PTDS_CALL_OPAQUE},
        {"shim-wait", PTDS_CALL_SHIM_WAIT},
        {"shim-edge", PTDS_CALL_SHIM_EDGE},
        {"host-memory", PTDS_CALL_HOST_MEMORY},
        {"why-pointers", PTDS_OPAQUE_POINTERS << PTDS_CALL_WHY_SHIFT},
        {"why-event", PTDS_OPAQUE_EVENT << PTDS_CALL_WHY_SHIFT},
        {"why-graph", PTDS_OPAQUE_GRAPH << PTDS_CALL_WHY_SHIFT},
        {"why-semaphore", PTDS_OPAQUE_SEMAPHORE << PTDS_CALL_WHY_SHIFT},
        {"why-value", PTDS_OPAQUE_WAITS_FOR_VALUE << PTDS_CALL_WHY_SHIFT},
    };
    return words;
}

const std::map<std::string, uint32_t> &Kinds()
{
    static const std::map<std::string, uint32_t> kinds = {
        {"unknown", PTDS_MEMORY_UNKNOWN},       {"pageable", PTDS_MEMORY_PAGEABLE}, {"pinned", PTDS_MEMORY_PINNED},
        {"registered", PTDS_MEMORY_REGISTERED}, {"device", PTDS_MEMORY_DEVICE},     {"pool", PTDS_MEMORY_POOL},
        {"managed", PTDS_MEMORY_MANAGED},       {"array", PTDS_MEMORY_ARRAY},       {"global", PTDS_MEMORY_GLOBAL},
        {"mapped", PTDS_MEMORY_MAPPED},         {"ipc", PTDS_MEMORY_IPC},
    };
    return kinds;
}

class Writer
{
public:
    explicit Writer(const std::string &text)
    {
        std::istringstream lines(text);
        std::string line;
        while (std::getline(lines, line))
            Line(line);
        if (tsc_) {
            trace_.header.clock = PTDS_CLOCK_TSC;
            trace_.Clock(0, 1000000, realtime_);
            trace_.Clock(3000000000u, 1001000000, realtime_ + second_);
        }
    }

    std::string Bytes() const
    {
        return trace_.Bytes();
    }

private:
    using Pairs = std::map<std::string, std::string>;

    [[noreturn]] void Bad(const std::string &what)
    {
        throw std::invalid_argument("trace text: " + what);
    }

    template <typename Define> uint32_t Id(std::map<std::string, uint32_t> *ids, const std::string &name, Define define)
    {
        auto found = ids->find(name);
        if (found != ids->end())
            return found->second;
        uint32_t id = static_cast<uint32_t>(ids->size()) + 1;
        (*ids)[name] = id;
        define(id);
        return id;
    }

    uint32_t StreamId(const std::string &name, uint32_t context)
    {
        static const std::map<char, uint32_t> kinds = {{'L', PTDS_STREAM_LEGACY},
                                                       {'P', PTDS_STREAM_PER_THREAD},
                                                       {'B', PTDS_STREAM_BLOCKING},
                                                       {'N', PTDS_STREAM_NON_BLOCKING},
                                                       {'S', PTDS_STREAM_SHIM_BLOCKING}};
        return Id(&streams_, name + "/" + std::to_string(context), [&](uint32_t id) {
            uint32_t thread = name[0] == 'P' ? static_cast<uint32_t>(std::stoul(name.substr(1))) : 0;
            if (kinds.count(name[0]) != 0)
                trace_.Stream(id, kinds.at(name[0]), context, thread);
            else if (name[0] != 'U')
                Bad("stream " + name);
        });
    }

    /* Far from the ids of kernels' names. */
    uint32_t RegionId(const std::string &name)
    {
        return 1000000 + Id(&regions_, name, [&](uint32_t id) { trace_.String(1000000 + id, name, PTDS_ROLE_REGION); });
    }

    void AddFacts(uint32_t kernel, const std::string &facts)
    {
        static const std::map<char, uint32_t> uses = {
            {'r', PTDS_CODE_READ}, {'w', PTDS_CODE_WRITE}, {'u', PTDS_CODE_READ | PTDS_CODE_WRITE}};
        static const std::map<std::string, uint32_t> verdicts = {
            {"direct", PTDS_CODE_DIRECT}, {"indirect", PTDS_CODE_INDIRECT}, {"unknown", PTDS_CODE_UNKNOWN}};
        std::vector<uint32_t> words;
        uint32_t bases = 0, verdict = PTDS_CODE_DIRECT, flags = 0;
        std::istringstream all(facts);
        for (std::string one; std::getline(all, one, ',');) {
            if (verdicts.count(one) != 0 || one == "tensor-map") {
                verdict = one == "tensor-map" ? verdict : verdicts.at(one);
                flags |= one == "tensor-map" ? PTDS_CODE_TENSOR_MAP : 0;
                continue;
            }
            const size_t range = one.find('-');
            const uint32_t kind = one[1] == 'v'                ? PTDS_CODE_VARIABLE
                                  : range == std::string::npos ? PTDS_CODE_PARAMETER
                                                               : PTDS_CODE_RANGE;
            const auto low = kind == PTDS_CODE_VARIABLE ? 0u : static_cast<uint32_t>(std::stoul(one.substr(1))) * 8;
            const auto high =
                kind == PTDS_CODE_RANGE ? static_cast<uint32_t>(std::stoul(one.substr(range + 1))) * 8 : low + 4;
            words.push_back(uses.at(one[0]) | 1 << 12 | kind << 16);
            words.push_back(low | high << 16);
            bases++;
        }
        trace_.KernelFacts(kernel, words, bases, verdict, flags);
    }

    uint32_t KernelId(const std::string &name, uint32_t params, uint32_t variables, const std::string &facts)
    {
        return Id(&kernels_, name, [&](uint32_t id) {
            std::vector<uint32_t> layout;
            for (uint32_t i = 0; i < params; i++)
                layout.push_back(i * 8 << 16 | 8);
            trace_.String(id, name);
            trace_.Kernel(id, id, layout, variables);
            if (!facts.empty())
                AddFacts(id, facts);
        });
    }

    struct Memory {
        uint32_t uid;
        uint64_t ptr;
    };

    // "A", "A+16" or a number
    uint64_t Address(const std::string &place)
    {
        if (place[0] >= '0' && place[0] <= '9')
            return std::stoull(place, nullptr, 0);
        size_t plus = place.find('+');
        auto found = memories_.find(place.substr(0, plus));
        if (found == memories_.end())
            Bad("no memory " + place);
        return found->second.ptr + (plus != std::string::npos ? std::stoull(place.substr(plus + 1), nullptr, 0) : 0);
    }

    // Of an allocation by its name, or of one that the trace does not show.
    uint32_t MemoryUid(const std::string &name)
    {
        auto found = memories_.find(name);
        return found != memories_.end() ? found->second.uid : 1000 + Id(&unseen_, name, [](uint32_t) {});
    }

    uint32_t Variables(const std::string &name)
    {
        bool constant = name[0] == '=';
        return name == "none"  ? PTDS_NO_VARIABLES
               : name == "old" ? 0
                               : MemoryUid(name.substr(constant)) | (constant ? PTDS_CONSTANT_VARIABLES : 0);
    }

    void AddReached(const std::string &names, CallSpec *call)
    {
        std::istringstream list(names);
        std::string name;
        while (std::getline(list, name, ',')) {
            bool reads = name[0] == '=';
            call->words.push_back(MemoryUid(name.substr(reads)) | (reads ? PTDS_REACHES_READ : PTDS_REACHES_WRITE)
                                                                      << PTDS_LAUNCH_ADDRESS_BITS);
        }
    }

    // A+64:A+128,B:B+4
    void AddParts(const std::string &parts, CallSpec *call)
    {
        std::istringstream list(parts);
        std::string part;
        while (std::getline(list, part, ',')) {
            size_t colon = part.find(':');
            call->words.push_back(Address(part.substr(0, colon)) | PTDS_PART_BEGIN << PTDS_LAUNCH_ADDRESS_BITS);
            call->words.push_back(Address(part.substr(colon + 1)) | PTDS_PART_END << PTDS_LAUNCH_ADDRESS_BITS);
        }
    }

    void FillAlloc(const std::string &name, Pairs *pairs, CallSpec *call)
    {
        const char *usual = name == "alloc-host"    ? "pinned"
                            : name == "register"    ? "registered"
                            : name == "alloc-async" ? "pool"
                                                    : "device";
        uint64_t pointer = Number(pairs, "ptr", 0x1000), bytes = Number(pairs, "bytes", 0);
        call->words = {pointer, bytes, Kinds().at(Take(pairs, "kind", usual))};
        if (pairs->count("m") != 0) {
            call->object = ++memory_uids_;
            memories_[Take(pairs, "m", "")] = Memory{call->object, pointer};
        }
        std::string of = Take(pairs, "of", ""), same = Take(pairs, "same", "");
        if (!of.empty() || !same.empty()) {
            call->words.push_back(of.empty() ? 0 : MemoryUid(of));
            call->words.push_back(same.empty() ? 0 : MemoryUid(same));
        }
    }

    void FillFree(Pairs *pairs, CallSpec *call)
    {
        std::string name = Take(pairs, "m", "");
        call->words = {Address(name)};
        call->object = memories_.at(name).uid;
    }

    void FillLaunch(Pairs *pairs, CallSpec *call)
    {
        uint32_t params = 0;
        bool plain = Take(pairs, "words", "") == "plain";
        std::istringstream args(Take(pairs, "args", ""));
        std::string arg;
        call->words = {1, 1, 1};
        if (pairs->count("blocks") != 0)
            call->words = {Number(pairs, "blocks", 1) | UINT64_C(1) << 32, 1, 1024 | UINT64_C(1) << 16 | UINT64_C(1) << 32};
        for (; std::getline(args, arg, ','); params++)
            if (arg != "-")
                call->words.push_back(Address(arg) | (plain ? 0 : static_cast<uint64_t>(params) << 51));
        if (pairs->count("k") != 0)
            call->object =
                KernelId(Take(pairs, "k", ""), params, Variables(Take(pairs, "vars", "none")), Take(pairs, "facts", ""));
        AddParts(Take(pairs, "parts", ""), call);
        AddReached(Take(pairs, "reaches", ""), call);
    }

    uint32_t ApiId(const std::string &name)
    {
        return Id(&apis_, name, [&](uint32_t id) { trace_.Api(id, name); });
    }

    /* "function:/file.py:41". */
    uint64_t SourcePc(const std::string &place)
    {
        size_t function = place.find(':'), line = place.rfind(':');
        auto text = [&](const std::string &of) {
            return 2000000 + Id(&texts_, of, [&](uint32_t id) { trace_.String(2000000 + id, of, PTDS_ROLE_SOURCE); });
        };
        return PTDS_PC_SOURCE | Id(&sources_, place, [&](uint32_t id) {
                   trace_.Source(id, text(place.substr(function + 1, line - function - 1)), text(place.substr(0, function)),
                                 static_cast<uint32_t>(std::stoul(place.substr(line + 1))));
               });
    }

    uint32_t StackId(const std::string &name)
    {
        size_t next = name.find("<-");
        std::string site = name.substr(0, next);
        size_t at = site.find('@');
        uint64_t base = ObjectBase(at == std::string::npos ? "prog" : site.substr(at + 1));
        return Id(&stacks_, name, [&](uint32_t id) {
            std::vector<uint64_t> pc = {base + id * 0x10u};
            while (next != std::string::npos) {
                size_t from = next + 2;
                next = name.find("<-", from);
                pc.push_back(SourcePc(name.substr(from, next - from)));
            }
            pc.push_back(base + 0x8000);
            trace_.Stack(id, pc);
        });
    }

    uint64_t ObjectBase(const std::string &name)
    {
        uint64_t size = 0x100000;
        uint32_t object = Id(&objects_, name, [&](uint32_t id) {
            trace_.Object(id, "/opt/app/" + name, 0x300000 + id * size, 0x400000 + id * size);
        });
        return 0x300000 + object * size;
    }

    void Bypass(const std::string &what)
    {
        size_t colon = what.find(':');
        if (colon == std::string::npos)
            trace_.Bypass(what);
        else
            trace_.Bypass(what.substr(colon + 1), static_cast<uint32_t>(std::stoul(what)));
    }

    /* Whether it was about the process as a whole. */
    bool About(const std::string &what, std::istringstream *words)
    {
        std::string text;
        if (what == "rank")
            *words >> trace_.header.rank >> trace_.header.ranks;
        else if (what == "pid")
            *words >> trace_.header.pid;
        else if (what == "chunk-size")
            *words >> trace_.chunk_size;
        else if (what == "host" && *words >> text)
            snprintf(trace_.header.host, sizeof trace_.header.host, "%s", text.c_str());
        else if (what == "realtime")
            *words >> realtime_ >> second_;
        else if (what == "process" && *words >> text)
            trace_.Setting(text, PTDS_SETTING_PROCESS);
        else if (what == "thread" && *words >> text)
            trace_.Thread(static_cast<uint32_t>(std::stoul(text)), text.substr(text.find('=') + 1));
        else if (what == "count")
            Count(words);
        else
            return false;
        return true;
    }

    /* "count THREAD API CALLS FAILED REMAPPED MICROSECONDS" */
    void Count(std::istringstream *words)
    {
        uint32_t thread = 0;
        std::string api;
        ptds_count count = {};
        if (!(*words >> thread >> api >> count.calls >> count.failed >> count.remapped >> count.ticks))
            Bad("count");
        bool twin = api.size() > 5 && api.compare(api.size() - 5, 5, "/twin") == 0;
        count.ticks *= 1000u * (tsc_ ? 3 : 1);
        trace_.Count(thread, ApiId(twin ? api.substr(0, api.size() - 5) : api), twin, count);
    }

    void Line(const std::string &line)
    {
        std::istringstream words(line);
        std::string first;
        if (!(words >> first) || first[0] == '#')
            return;
        std::string rest;
        if (About(first, &words))
            return;
        if (first == "setting" || first == "untabled" || first == "bypass") {
            words >> rest;
            first == "setting" ? trace_.Setting(rest) : first == "bypass" ? Bypass(rest) : trace_.Untabled(rest);
        } else if (first == "tsc" || first == "monotonic") {
            tsc_ = first == "tsc";
        } else if (first == "thread-end") {
            words >> rest;
            trace_.ThreadGone(static_cast<uint32_t>(std::stoul(rest)), Ticks(rest.substr(rest.find('@') + 1)));
        } else if (first == "stream-gone") {
            words >> rest;
            size_t at = rest.find('@');
            trace_.StreamGone(StreamId(rest.substr(0, at), 1), Ticks(rest.substr(at + 1)));
        } else if (first == "context") {
            words >> rest;
            trace_.Context(static_cast<uint32_t>(std::stoul(rest)));
        } else if (first == "recycled") {
            trace_.header.recycled = 1;
        } else if (first == "refused") {
            trace_.header.refused = 1;
        } else if (first == "lost") {
            words >> first;
            trace_.Gap(Parse(first, &words, line).thread, 1);
        } else if (first == "killed") {
            trace_.header.clean_end = 0;
        } else if (first == "host-run") {
            HostRun(&words, line);
        } else if (first == "device-run") {
            DeviceRun(&words, line);
        } else if (first == "left") {
            words >> first;
            trace_.Memory(Parse(first, &words, line));
        } else if (first == "in-flight") {
            words >> first;
            InFlight(Parse(first, &words, line));
        } else if (!Region(first, line)) {
            trace_.Call(Parse(first, &words, line));
        }
    }

    uint64_t Ticks(const std::string &microseconds)
    {
        return std::stoull(microseconds) * 1000 * (tsc_ ? 3 : 1);
    }

    /* Whether the line is about a region. */
    bool Region(const std::string &when, const std::string &line)
    {
        std::istringstream words(line);
        std::string first, what, name, word;
        Pairs pairs;
        words >> first >> what;
        size_t at = when.find('@');
        if (at == std::string::npos || (what != "region" && what != "region-end"))
            return false;
        while (words >> word) {
            size_t equals = word.find('=');
            (equals == std::string::npos ? name : pairs[word.substr(0, equals)]) = word.substr(equals + 1);
        }
        if (name.empty() != (what == "region-end"))
            Bad(line);
        uint32_t domain = pairs.count("domain") != 0 ? RegionId(Take(&pairs, "domain", "")) : 0;
        uint64_t range = Number(&pairs, "range", 0);
        if (!pairs.empty())
            Bad(line);
        trace_.Region(static_cast<uint32_t>(std::stoul(when)), Ticks(when.substr(at + 1)),
                      name.empty() ? 0 : RegionId(name), domain, range);
        return true;
    }

    void HostRun(std::istringstream *words, const std::string &line)
    {
        std::string call, run, word;
        uint32_t stream = 0, tid = 1;
        *words >> call >> run;
        size_t at = call.find('@'), plus = run.find('+');
        if (at == std::string::npos || plus == std::string::npos)
            Bad(line);
        while (*words >> word) {
            if (word.compare(0, 2, "s=") == 0)
                stream = StreamId(word.substr(2), 1);
            else if (word.compare(0, 4, "tid=") == 0)
                tid = static_cast<uint32_t>(std::stoul(word.substr(4)));
            else
                Bad(line);
        }
        uint64_t begin = Ticks(run);
        trace_.HostRun(static_cast<uint32_t>(std::stoul(call)), Ticks(call.substr(at + 1)), begin,
                       begin + Ticks(run.substr(plus + 1)), stream, tid);
    }

    void DeviceRun(std::istringstream *words, const std::string &line)
    {
        std::string call, run;
        *words >> call >> run;
        size_t at = call.find('@'), plus = run.find('+');
        if (at == std::string::npos || plus == std::string::npos)
            Bad(line);
        uint64_t begin = std::stoull(run) * 1000;
        trace_.DeviceRun(static_cast<uint32_t>(std::stoul(call)), Ticks(call.substr(at + 1)), begin,
                         begin + std::stoull(run.substr(plus + 1)) * 1000);
    }

    void InFlight(const CallSpec &call)
    {
        ptds_now now;
        memset(&now, 0, sizeof now);
        now.enter = call.enter;
        now.api = static_cast<uint16_t>(call.api);
        now.twin = (call.flags & PTDS_CALL_TWIN) != 0;
        now.flags = call.flags;
        now.context = call.context;
        now.stream = call.stream;
        now.target = call.target;
        now.object = call.object;
        now.stack = call.stack;
        now.op = static_cast<uint8_t>(call.op);
        now.kinds = static_cast<uint8_t>(call.kinds);
        now.generation = call.generation;
        now.word = call.words.empty() ? 0 : call.words[0];
        trace_.Now(call.thread, now);
    }

    CallSpec Parse(const std::string &when, std::istringstream *words, const std::string &line)
    {
        size_t at = when.find('@'), plus = when.find('+');
        std::string name, word;
        if (at == std::string::npos || !(*words >> name))
            Bad(line);
        CallSpec call;
        call.thread = static_cast<uint32_t>(std::stoul(when.substr(0, at)));
        call.enter = Ticks(when.substr(at + 1));
        if (plus != std::string::npos) {
            call.leave = call.enter + Ticks(when.substr(plus + 1));
            call.flags |= PTDS_CALL_TIMED;
        }
        Pairs pairs;
        while (*words >> word) {
            size_t equals = word.find('=');
            if (equals != std::string::npos)
                pairs[word.substr(0, equals)] = word.substr(equals + 1);
            else if (Words().count(word) != 0)
                call.flags |= Words().at(word);
            else
                Bad(line);
        }
        Fill(name, pairs, &call, line);
        return call;
    }

    std::string Take(Pairs *pairs, const std::string &key, const std::string &otherwise)
    {
        auto found = pairs->find(key);
        if (found == pairs->end())
            return otherwise;
        std::string value = found->second;
        pairs->erase(found);
        return value;
    }

    uint64_t Number(Pairs *pairs, const std::string &key, uint64_t otherwise)
    {
        return std::stoull(Take(pairs, key, std::to_string(otherwise)), nullptr, 0);
    }

    std::string UsualApi(const Operation &operation, const CallSpec &call)
    {
        if (operation.api != nullptr)
            return operation.api;
        std::string form = call.flags & PTDS_CALL_IMPLICIT ? "" : "Async";
        if (operation.op == PTDS_OP_MEMSET)
            return "cuMemsetD8" + (form.empty() ? "_v2" : form);
        auto side = [](uint32_t kind) {
            return kind == PTDS_MEMORY_PAGEABLE || kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED ? "H" : "D";
        };
        return std::string("cuMemcpy") + side(call.kinds >> 4) + "to" + side(call.kinds & 15) + form + "_v2";
    }

    void FillMemory(uint32_t op, Pairs *pairs, CallSpec *call)
    {
        uint64_t pointer = Number(pairs, "ptr", 0x1000), bytes = Number(pairs, "bytes", 0), source = 0x2000;
        uint64_t height = Number(pairs, "height", 1), pitch = Number(pairs, "pitch", 0);
        uint64_t from_pitch = Number(pairs, "from-pitch", pitch), span = Number(pairs, "span", 0);
        if (pairs->count("dst") != 0)
            pointer = Address(Take(pairs, "dst", ""));
        if (pairs->count("src") != 0)
            source = Address(Take(pairs, "src", ""));
        uint32_t to = Kinds().at(Take(pairs, "to", "device"));
        uint32_t from = op == PTDS_OP_COPY ? Kinds().at(Take(pairs, "from", "device")) : 0;
        call->kinds = to | from << 4;
        if (op == PTDS_OP_COPY)
            call->words = {pointer, source, bytes, height, pitch, from_pitch};
        if (op == PTDS_OP_COPY && span != 0)
            call->words.insert(call->words.end(), {span, Number(pairs, "from-span", span)});
        AddReached(Take(pairs, "reaches", ""), call);
        if (op != PTDS_OP_COPY)
            call->words = {pointer, bytes, height, pitch};
    }

    void FillEvent(uint32_t op, Pairs *pairs, CallSpec *call)
    {
        std::string name = Take(pairs, "e", "");
        if (name.empty())
            return;
        call->object = Id(&events_, name, [](uint32_t) {});
        uint32_t &generation = generations_[name];
        if (op == PTDS_OP_EVENT_RECORD)
            generation++;
        call->generation = static_cast<uint32_t>(Number(pairs, "g", generation));
    }

    void FillStreams(Pairs *pairs, CallSpec *call, bool memory)
    {
        std::string stream = Take(pairs, "s", "");
        std::string target = Take(pairs, memory ? "target" : "to", stream);
        std::string behind = Take(pairs, "behind", ""), waits = Take(pairs, "waits", target);
        if (!behind.empty()) {
            size_t at = behind.find('@');
            call->flags |= PTDS_CALL_SHIM_EDGE;
            trace_.Edge(call->thread, StreamId(waits, call->context), StreamId(behind.substr(0, at), call->context),
                        at == std::string::npos ? call->enter : Ticks(behind.substr(at + 1)));
        }
        if (stream.empty())
            return;
        call->stream = StreamId(stream, call->context);
        call->target = StreamId(target, call->context);
        if (stream[0] == 'L')
            call->flags |= PTDS_CALL_LEGACY;
        if (target != stream)
            call->flags |= PTDS_CALL_REMAPPED;
    }

    void Fill(const std::string &name, Pairs pairs, CallSpec *call, const std::string &line)
    {
        const Operation *operation = nullptr;
        for (const Operation &one : operations)
            if (name == one.name)
                operation = &one;
        if (operation == nullptr)
            Bad(line);
        call->op = operation->op;
        call->context = static_cast<uint32_t>(Number(&pairs, "ctx", 1));
        call->result = static_cast<uint32_t>(Number(&pairs, "result", 0));
        bool memory = operation->op == PTDS_OP_COPY || operation->op == PTDS_OP_MEMSET;
        if (memory)
            FillMemory(operation->op, &pairs, call);
        else if (operation->op == PTDS_OP_LAUNCH)
            FillLaunch(&pairs, call);
        else if (operation->op == PTDS_OP_ALLOC || operation->op == PTDS_OP_ALLOC_ASYNC)
            FillAlloc(name, &pairs, call);
        else if (pairs.count("m") != 0)
            FillFree(&pairs, call);
        else if (operation->op == PTDS_OP_WAIT_VALUE || operation->op == PTDS_OP_WRITE_VALUE)
            call->words = {Number(&pairs, "ptr", 0x1000), Number(&pairs, "bytes", 4)};
        else if (pairs.count("ptr") != 0)
            call->words = {Number(&pairs, "ptr", 0)};
        else if (pairs.count("flags") != 0)
            call->words = {Number(&pairs, "flags", 0)};
        FillStreams(&pairs, call, memory);
        FillEvent(operation->op, &pairs, call);
        if (pairs.count("site") != 0)
            call->stack = StackId(Take(&pairs, "site", ""));
        call->api = ApiId(Take(&pairs, "api", UsualApi(*operation, *call)));
        if (!pairs.empty())
            Bad("unknown key " + pairs.begin()->first + " in: " + line);
    }

    TraceBuilder trace_;
    bool tsc_ = false;
    uint64_t realtime_ = 1000000, second_ = 1000000000; /* as the monotonic one */
    uint32_t memory_uids_ = 0;
    std::map<std::string, Memory> memories_;
    std::map<std::string, uint32_t> texts_, sources_, streams_, kernels_, apis_, stacks_, objects_, events_, generations_,
        regions_, unseen_;
};

} // namespace

std::string BuildTrace(const std::string &text)
{
    return Writer(text).Bytes();
}

} // namespace ptds
