// Cost of one firing to the traced thread: kernel uprobes with dvm's capture programs beside bpftrace, alternating in one run.
//
//   uprobe/firing/count    @ = count()                  (the record holds the probe id)
//   uprobe/firing/string   @[copyinstr(arg0)] = count() (and the string)
//   syscall/firing/count   @ = count() of one system call in that process
//   uprobe/firing/latency  entry and return of a function that calls another: @ = quantize() of the time between; a firing is
//   both uprobe/firing/stepped  @ = count() of a function whose first instruction the kernel must single-step; dvm chooses the
//   place
//
// A child calls a function in a tight loop, or makes a system call: once untraced, then traced by each tool. The first
// instruction of the function is a push, except in the last row. The added cost is the difference. Prints medians with
// quartiles over the rounds, and the ratio.
// usage: firing_cost [ROUNDS [CALLS]]

#include <sys/syscall.h>

#include "bench/runtime/workload.h"
#include "lab/validate/bpftrace_peer.h"

extern "C" {
void bench_hot(const char* text);
asm(".pushsection .text\n.globl bench_hot\n.type bench_hot, @function\nbench_hot:\n"
    "push %rbp\nmov %rsp, %rbp\npop %rbp\nret\n.size bench_hot, . - bench_hot\n.popsection");
void bench_calls(const char* text);
asm(".pushsection .text\n.globl bench_calls\n.type bench_calls, @function\nbench_calls:\n"
    "push %rbx\ncall bench_hot\npop %rbx\nret\n.size bench_calls, . - bench_calls\n.popsection");
void bench_stepped(const char* text);
// Apart from the code around it, in which the bytes of some constant may look like a jump here.
asm(".pushsection .text\n.skip 256, 0x90\n.globl bench_stepped\n.type bench_stepped, @function\nbench_stepped:\n"
    "mov %rdi, %rax\nxor %esi, %esi\npush %rbx\npop %rbx\nret\n.size bench_stepped, . - bench_stepped\n.skip 256, "
    "0x90\n.popsection");
}

namespace {

using namespace dvm::bench;

void system_call(const char*) { syscall(SYS_getppid); }

struct Case {
  std::string name;
  Work what = bench_hot;
  std::vector<Site> sites;
  std::string program;  // bpftrace's
  CaptureNeeds needs;
  std::vector<double> ours, theirs, ratios;
  uint64_t events = 0, expected = 0, strings = 0, drops = 0;
};

void run_round(Workload& workload, long calls, Case& one) {
  const double plain = per_call(workload, calls, one.what);
  {
    OurTracer tracer(workload.pid(), one.sites, one.needs);
    one.ours.push_back(per_call(workload, calls, one.what) - plain);
    const Count& count = tracer.finish();
    one.events += count.events;
    one.strings += count.strings;
    one.drops += tracer.drops();
    one.expected += static_cast<uint64_t>(kRuns * calls) * one.sites.size();
  }
  const auto tracer = must(dvm::lab::start_bpftrace(workload.pid(), one.program));
  one.theirs.push_back(per_call(workload, calls, one.what) - plain);
  one.ratios.push_back(one.ours.back() / one.theirs.back());
}

void print(const Case& one) {
  const Spread ours = spread(one.ours), theirs = spread(one.theirs), ratio = spread(one.ratios);
  fmt::print("{:22} {:6.0f} [{:.0f}, {:.0f}]  {:6.0f} [{:.0f}, {:.0f}]  {:5.2f} [{:.2f}, {:.2f}]  {} of {} events, {} drops\n",
             one.name, ours.median, ours.low, ours.high, theirs.median, theirs.low, theirs.high, ratio.median, ratio.low,
             ratio.high, one.events, one.expected, one.drops);
  if (!one.needs.memory.empty() && one.strings != one.events) fail(fmt::format("{} strings missed", one.events - one.strings));
}

void sustain(Workload& workload, Case& one) {
  constexpr long kCalls = 5'000'000;
  OurTracer tracer(workload.pid(), one.sites, one.needs);
  const double seconds = static_cast<double>(workload.run(kCalls, one.what)) / kNanoseconds;
  const Count& count = tracer.finish();
  fmt::print("{:22} {:6.2f} M events/s for {:.1f} s, {} of {} events, {} drops\n", one.name + "/rate",
             static_cast<double>(kCalls) / seconds / 1e6, seconds, count.events, kCalls * static_cast<long>(one.sites.size()),
             tracer.drops());
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  const long calls = argc > 2 ? std::atol(argv[2]) : 100'000;
  if (rounds < 1 || calls < 1) fail("usage: firing_cost [ROUNDS [CALLS]]");
  const std::string path = own_file();
  Workload workload;
  run_on(1);

  std::array<Case, 5> cases;
  cases[0].name = "uprobe/firing/count";
  cases[0].program = fmt::format("uprobe:{}:bench_hot {{ @ = count(); }}", path);
  cases[1].name = "uprobe/firing/string";
  cases[1].program = fmt::format("uprobe:{}:bench_hot {{ @[str(arg0)] = count(); }}", path);
  cases[1].needs.args = 1;
  cases[1].needs.memory = {{0, true, 0, 256}};
  cases[0].sites = cases[1].sites = {site_of(workload, path, "bench_hot")};
  cases[2].name = "syscall/firing/count";
  cases[2].what = system_call;
  cases[2].program = fmt::format("tracepoint:syscalls:sys_enter_getppid /pid == {}/ {{ @ = count(); }}", workload.pid());
  cases[2].sites = {TracepointSite{{KernelEvent{"sys_enter", {SYS_getppid}}}}};
  cases[3].name = "uprobe/firing/stepped";
  cases[3].what = bench_stepped;
  cases[3].program = fmt::format("uprobe:{}:bench_stepped {{ @ = count(); }}", path);
  cases[3].sites = {chosen_site_of(workload, path, "bench_stepped")};
  cases[4].name = "uprobe/firing/latency";
  cases[4].what = bench_calls;
  cases[4].program = fmt::format(
      "uprobe:{0}:bench_calls {{ @s[tid] = nsecs; }} "
      "uretprobe:{0}:bench_calls /@s[tid]/ {{ @ = hist(nsecs - @s[tid]); delete(@s[tid]); }}",
      path);
  cases[4].needs.time = cases[4].needs.thread = true;
  const UprobeSite entry = chosen_site_of(workload, path, "bench_calls");
  UprobeSite leaving = entry;
  leaving.is_return = true;
  cases[4].sites = {entry, leaving};
  for (int round = 0; round < rounds; round++)
    for (Case& one : cases) run_round(workload, calls, one);

  fmt::print("{:22} {:>20} {:>20} {:>18}\n", "added ns a firing", "dvm", "bpftrace", "ratio");
  for (const Case& one : cases) print(one);
  for (Case& one : cases) sustain(workload, one);
}
