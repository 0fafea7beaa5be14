// Cost of a firing by the instruction under the probe: uprobe/instruction/<name>. The site chooser relies on which instructions
// the kernel emulates, and which it single-steps (runtime/code/instruction.h).
// usage: instruction_cost [ROUNDS [CALLS]]

#include "bench/runtime/workload.h"

#define INSTRUCTIONS(X)                              \
  X(push, "push %rbp", "pop %rbp")                   \
  X(push_r15, "push %r15", "pop %r15")               \
  X(push_constant, "push $1", "pop %rax")            \
  X(nop, "nop", "")                                  \
  X(nop_2, ".byte 0x66, 0x90", "")                   \
  X(nop_4, ".byte 0x0f, 0x1f, 0x40, 0x00", "")       \
  X(nop_5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", "") \
  X(endbr64, "endbr64", "")                          \
  X(jmp_short, "jmp 1f\n1:", "")                     \
  X(jmp_near, ".byte 0xe9, 0, 0, 0, 0", "")          \
  X(jcc_taken, "jne 1f\n1:", "")                     \
  X(jcc_near, ".byte 0x0f, 0x85, 0, 0, 0, 0", "")    \
  X(call, "call 1f\n1:", "pop %rax")                 \
  X(ret, "ret", "")                                  \
  X(mov, "mov %rdi, %rax", "")                       \
  X(sub_rsp, "sub $8, %rsp", "add $8, %rsp")         \
  X(xor, "xor %eax, %eax", "")                       \
  X(test, "test %rdi, %rdi", "")

extern "C" {
#define DECLARE(name, code, rest) void bench_on_##name(const char*);
INSTRUCTIONS(DECLARE)
#undef DECLARE
}
#define DEFINE(name, code, rest)                                                                                                 \
  asm(".pushsection .text\n.globl bench_on_" #name "\n.type bench_on_" #name ", @function\nbench_on_" #name ":\n" code "\n" rest \
      "\nret\n.size bench_on_" #name ", . - bench_on_" #name "\n.popsection");
INSTRUCTIONS(DEFINE)
#undef DEFINE

namespace {

using namespace dvm::bench;

void measure(const std::string& file, const char* name, void (*function)(const char*), int rounds, long calls) {
  Workload workload;
  const UprobeSite site = site_of(workload, file, std::string("bench_on_") + name);
  std::vector<double> added;
  for (int round = 0; round < rounds; round++) {
    const double plain = per_call(workload, calls, function);
    const OurTracer tracer(workload.pid(), {site}, {});
    added.push_back(per_call(workload, calls, function) - plain);
  }
  const Spread ns = spread(added);
  fmt::print("uprobe/instruction/{:14} {:6.0f} ns [{:.0f}, {:.0f}]\n", name, ns.median, ns.low, ns.high);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const long calls = argc > 2 ? std::atol(argv[2]) : 10'000;
  if (rounds < 1 || calls < 1) fail("usage: instruction_cost [ROUNDS [CALLS]]");
  const std::string file = own_file();
  run_on(1);
#define MEASURE(name, code, rest) measure(file, #name, bench_on_##name, rounds, calls);
  INSTRUCTIONS(MEASURE)
#undef MEASURE
}
