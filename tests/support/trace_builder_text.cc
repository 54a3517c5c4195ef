// SPDX-License-Identifier: Apache-2.0
//
// The text language of trace_builder.h. Used by tests only; throws on whatever it does not know, so that a typing mistake
// in a rule's trace is no silent pass.
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
    {"event-destroy", PTDS_OP_EVENT_DESTROY, "cuEventDestroy_v2"},
    {"ctx-sync", PTDS_OP_CTX_SYNC, "cuCtxSynchronize"},
    {"free", PTDS_OP_FREE, "cuMemFree_v2"},
    {"free-host", PTDS_OP_FREE_HOST, "cuMemFreeHost"},
    {"unregister", PTDS_OP_UNREGISTER, "cuMemHostUnregister"},
    {"array-destroy", PTDS_OP_ARRAY_DESTROY, "cuArrayDestroy"},
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
        {"implicit", PTDS_CALL_IMPLICIT},         {"twin", PTDS_CALL_TWIN},
        {"explicit", PTDS_CALL_EXPLICIT},         {"capturing", PTDS_CALL_CAPTURING},
        {"capture-open", PTDS_CALL_CAPTURE_OPEN}, {"kept-capture", PTDS_CALL_KEPT_CAPTURE},
        {"kept-refused", PTDS_CALL_KEPT_REFUSED}, {"kept-excluded", PTDS_CALL_KEPT_EXCLUDED},
        {"kept-no-way", PTDS_CALL_KEPT_NO_WAY},   {"opaque", PTDS_CALL_OPAQUE},
        {"shim-wait", PTDS_CALL_SHIM_WAIT},       {"shim-edge", PTDS_CALL_SHIM_EDGE},
    };
    return words;
}

const std::map<std::string, uint32_t> &Kinds()
{
    static const std::map<std::string, uint32_t> kinds = {
        {"unknown", PTDS_MEMORY_UNKNOWN},       {"pageable", PTDS_MEMORY_PAGEABLE}, {"pinned", PTDS_MEMORY_PINNED},
        {"registered", PTDS_MEMORY_REGISTERED}, {"device", PTDS_MEMORY_DEVICE},     {"pool", PTDS_MEMORY_POOL},
        {"managed", PTDS_MEMORY_MANAGED},       {"array", PTDS_MEMORY_ARRAY},
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
            trace_.Clock(0, 1000000);
            trace_.Clock(3000000000u, 1001000000);
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

    uint32_t KernelId(const std::string &name)
    {
        return Id(&kernels_, name, [&](uint32_t id) {
            trace_.String(id, name);
            trace_.Kernel(id, id);
        });
    }

    uint32_t ApiId(const std::string &name)
    {
        return Id(&apis_, name, [&](uint32_t id) { trace_.Api(id, name); });
    }

    uint32_t StackId(const std::string &name)
    {
        return Id(&stacks_, name, [&](uint32_t id) {
            if (id == 1)
                trace_.Object(1, "/opt/app/prog", 0x400000, 0x500000);
            trace_.Stack(id, {0x400000 + id * 0x10u, 0x408000});
        });
    }

    void Line(const std::string &line)
    {
        std::istringstream words(line);
        std::string first;
        if (!(words >> first))
            return;
        std::string rest;
        if (first == "setting" || first == "untabled" || first == "bypass") {
            words >> rest;
            first == "setting" ? trace_.Setting(rest) : first == "bypass" ? trace_.Bypass(rest) : trace_.Untabled(rest);
        } else if (first == "tsc" || first == "monotonic") {
            tsc_ = first == "tsc";
        } else {
            Call(first, &words, line);
        }
    }

    uint64_t Ticks(const std::string &microseconds)
    {
        return std::stoull(microseconds) * 1000 * (tsc_ ? 3 : 1);
    }

    void Call(const std::string &when, std::istringstream *words, const std::string &line)
    {
        size_t at = when.find('@'), plus = when.find('+');
        std::string name, word;
        if (at == std::string::npos || !(*words >> name))
            Bad(line);
        CallSpec call;
        call.thread = static_cast<uint32_t>(std::stoul(when.substr(0, at)));
        call.enter = Ticks(when.substr(at + 1));
        if (name == "region" || name == "region-end") {
            *words >> word;
            if (word.empty() != (name == "region-end"))
                Bad(line);
            trace_.Region(call.thread, call.enter, word.empty() ? 0 : RegionId(word));
            return;
        }
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
        trace_.Call(call);
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
        uint64_t pointer = Number(pairs, "ptr", 0x1000), bytes = Number(pairs, "bytes", 0);
        uint32_t to = Kinds().at(Take(pairs, "to", "device"));
        uint32_t from = op == PTDS_OP_COPY ? Kinds().at(Take(pairs, "from", "device")) : 0;
        call->kinds = to | from << 4;
        if (op == PTDS_OP_COPY)
            call->words = {pointer, 0x2000, bytes, 1, 0, 0};
        else
            call->words = {pointer, bytes, 1, 0};
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
        else if (pairs.count("ptr") != 0)
            call->words = {Number(&pairs, "ptr", 0)};
        else if (pairs.count("flags") != 0)
            call->words = {Number(&pairs, "flags", 0)};
        FillStreams(&pairs, call, memory);
        FillEvent(operation->op, &pairs, call);
        if (pairs.count("k") != 0)
            call->object = KernelId(Take(&pairs, "k", ""));
        if (pairs.count("site") != 0)
            call->stack = StackId(Take(&pairs, "site", ""));
        call->api = ApiId(Take(&pairs, "api", UsualApi(*operation, *call)));
        if (!pairs.empty())
            Bad("unknown key " + pairs.begin()->first + " in: " + line);
    }

    TraceBuilder trace_;
    bool tsc_ = false;
    std::map<std::string, uint32_t> streams_, kernels_, apis_, stacks_, events_, generations_, regions_;
};

} // namespace

std::string BuildTrace(const std::string &text)
{
    return Writer(text).Bytes();
}

} // namespace ptds
