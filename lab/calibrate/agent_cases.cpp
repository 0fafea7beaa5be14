// Covered by tests/unit/lab/agent_cases_test.cpp.

#include "lab/calibrate/agent_cases.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr uint32_t kShallow = 4, kDeep = 24;  // functions
constexpr uint32_t kShort = 7, kLong = 199;   // letters

constexpr const char* kCount = "{ @ = count(); }";
constexpr const char* kTwoCounts = "{ @a = count(); @b = count(); }";
constexpr const char* kFalse = "/arg0 == 1/ { @ = count(); }";
constexpr const char* kVariable = "{ self->x = 1; }";
constexpr const char* kRecord = "{ n = 1; }";  // a global variable: dvm runs it
constexpr const char* kByString = "{ @[copyinstr(arg0)] = count(); }";
constexpr const char* kByStack = "{ @[ustack()] = count(); }";
constexpr const char* kRecordOfStack = "{ @[ustack()] = count(); n = 1; }";
constexpr const char* kRecordOfString = "{ s = copyinstr(arg0); }";

constexpr AgentSize plain(const char* with) { return {with}; }
constexpr AgentSize of_text(const char* with, uint32_t letters) { return {with, letters, 0, letters + 1.0}; }
constexpr AgentSize of_stack(const char* with, uint32_t depth) {
  return {with, 0, depth, static_cast<double>(frames_of({.depth = depth}))};
}
constexpr AgentSize of_copy(const char* bytes, double things) { return {kRecordOfStack, 0, kShallow, things, bytes}; }
constexpr AgentSize of_bytes(const char* with, double things) { return {with, kLong, 0, things}; }

const AgentCase kCases[] = {
    // Predicates, which are evaluated before anything else.
    {"agent/site/expression"_row,
     {{plain("/arg0 == 1/ { @a = count(); } PROBE /arg0 == 2/ { @b = count(); }"),
       plain("/arg0 == 1/ { @a = count(); } PROBE /(arg0 ^ arg1) * 5 + (arg2 ^ 7) * 3 - arg3 * 9 == 2/ { @b = count(); }")}},
     kFalse},
    {"agent/stub/entry"_row, {plain(kFalse)}},
    {"agent/stub/return"_row, {plain("/arg1 == 1/ { @ = count(); }")}, "", 1, false, false, false, true},
    {"agent/stub/usdt"_row, {plain(kFalse)}, "", 1, false, false, false, false, StubKind::nop},
    // One count does not take the lane; two do.
    {"aggregation/count"_row, {plain("{ @a = count(); @b = count(); @c = count(); }")}, kTwoCounts},
    {"agent/lane/find"_row, {plain(kCount)}},
    {"agent/lane/take"_row, {plain(kTwoCounts)}},
    {"aggregation/sum"_row, {plain("{ @a = count(); @b = sum(arg0); }")}, kCount},
    {"aggregation/min"_row, {plain("{ @a = count(); @b = min(arg0); }")}, kCount},
    {"aggregation/max"_row, {plain("{ @a = count(); @b = max(arg0); }")}, kCount},
    {"aggregation/avg"_row, {plain("{ @a = count(); @b = avg(arg0); }")}, kCount},
    {"aggregation/stddev"_row, {plain("{ @a = count(); @b = stddev(arg0 & 511); }")}, kCount},
    {"aggregation/quantize"_row, {plain("{ @a = count(); @b = quantize(arg0 & 511); }")}, kCount},
    {"aggregation/lquantize"_row, {plain("{ @a = count(); @b = lquantize(arg0 & 511, 0, 1000, 10); }")}, kCount},
    {"aggregation/llquantize"_row, {plain("{ @a = count(); @b = llquantize(arg0 & 511, 10, 0, 6, 20); }")}, kCount},
    {"key/integer"_row, {plain("{ @[arg0, arg0 + 1, arg0 + 2] = count(); }")}, "{ @[arg0] = count(); }", 2},
    {"key/any"_row, {plain("{ @[arg0] = count(); }")}, kCount},
    {"key/string"_row, {{of_text(kByString, kShort), of_text(kByString, kLong)}}, kCount},
    {"agent/site/far_string"_row, {of_text(kByString, kShort)}, kByString, 1, false, true},
    {"action/ustack"_row, {{of_stack(kByStack, kShallow), of_stack(kByStack, kDeep)}}, kCount},
    {"agent/site/name"_row, {plain("{ @[execname] = count(); }")}, kCount},
    {"agent/site/variables"_row, {plain(kVariable)}},
    {"agent/site/time"_row, {plain("{ self->x = timestamp; }")}, kVariable},
    {"agent/stub/common"_row, {plain(kCount)}, kCount, 1, false, false, true},
    // Records.
    {"agent/lane/record"_row, {plain(kRecord)}},
    {"capture/time"_row, {plain("{ n = timestamp; }")}, kRecord},
    {"capture/cpu_time"_row, {plain("{ n = vtimestamp; }")}, kRecord},
    {"capture/thread"_row, {plain("{ n = tid; }")}, kRecord},
    {"capture/name"_row, {plain("{ s = execname; }")}, kRecord},
    {"capture/argument"_row, {plain("{ n = arg0 + arg1 + arg2 + arg3; }")}, kRecord, 4},
    {"capture/bytes"_row,
     {{of_bytes("{ n = *(uint64_t *)copyin(arg0, 8); }", 8), of_bytes("{ n = *(uint64_t *)copyin(arg0, 199); }", 199)}},
     kRecord},
    {"capture/string"_row, {{of_text(kRecordOfString, kShort), of_text(kRecordOfString, kLong)}}, kRecord},
    {"capture/stack"_row, {{of_stack(kRecordOfStack, kShallow), of_stack(kRecordOfStack, kDeep)}}, kRecord},
    {"capture/stack_bytes"_row, {{of_copy("1024", 1024), of_copy("4096", 4096)}}, kRecord},
    {"agent/lane/read"_row, {{of_text(kRecordOfString, kShort), of_text(kRecordOfString, kLong)}}, "", 1, true},
};

}  // namespace

std::span<const AgentCase> agent_cases() { return kCases; }

}  // namespace dvm::lab
