// Time to trace all functions of a program, and to stop tracing them: uprobe/attach, uprobe/detach.
// usage: firing_attach [FILE [ROUNDS]], a file that a running bash has mapped; by default this program, with 2,000 traced
// functions

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/symbol/elf.h"

// attached_0 to attached_1999
asm(".pushsection .text\n.altmacro\n"
    ".macro attached n\n.globl attached_\\n\n.type attached_\\n, @function\n"
    "attached_\\n: push %rbp\nmov %rsp, %rbp\npop %rbp\nret\n.size attached_\\n, . - attached_\\n\n.endm\n"
    ".set number, 0\n.rept 2000\nattached %number\n.set number, number + 1\n.endr\n.noaltmacro\n.popsection");

namespace {

using namespace dvm::runtime;

constexpr const char* kOwn = "/proc/self/exe";

double now_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "firing_attach: {}\n", what);
  std::exit(1);
}

pid_t start(const std::string& file) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (file == kOwn) pause();
  execl("/bin/bash", "bash", "-c", "while :; do :; done", nullptr);
  _exit(127);
}

std::vector<Probe> probes_of(const std::string& file, pid_t pid) {
  const auto object = ElfObject::read(file);
  if (!object) fail(object.error().message);
  std::vector<Probe> probes;
  for (const ElfFunction& function : (*object)->functions()) {
    if (file == kOwn && !function.name.starts_with("attached_")) continue;
    Probe& probe = probes.emplace_back();
    probe.id = static_cast<uint32_t>(3 + probes.size());
    probe.module = file;
    probe.function = function.name;
    UprobeSite site{file, function.offset, false, pid};
    site.size = function.size, site.alone = function.alone;
    probe.site = site;
  }
  return probes;
}

class Count final : public EventSink {
 public:
  bool fire(dvm::vm::Firing&) noexcept override { return events++, true; }
  uint64_t events = 0;
};

void print(const char* name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  fmt::print("{:16} {:7.1f} ms [{:.1f}, {:.1f}]\n", name, times[n / 2], times[n / 4], times[3 * n / 4]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : kOwn;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  if (rounds < 1) fail("usage: firing_attach [FILE [ROUNDS]]");
  const pid_t pid = start(file);
  usleep(100'000);
  const std::vector<Probe> probes = probes_of(file, pid);
  std::vector<EnabledProbe> enabled;
  for (const Probe& probe : probes) enabled.push_back({&probe, {}});

  std::vector<double> attach, detach;
  std::vector<Refused> refused;
  Count count;
  for (int round = 0; round < rounds; round++) {
    auto instrument = make_uprobe_instrument();
    refused.clear();
    const double start_ms = now_ms();
    if (dvm::Status status = instrument->enable(enabled, refused); !status) fail(status.error().message);
    const double attached_ms = now_ms();
    usleep(50'000);
    const double off_ms = now_ms();
    instrument->disable();
    detach.push_back(now_ms() - off_ms);
    attach.push_back(attached_ms - start_ms);
    if (!instrument->poll(count)) fail("poll failed");
  }
  fmt::print("{} functions of {}, {} refused, {} events\n", probes.size(), file, refused.size(), count.events);
  for (const Refused& one : refused) fmt::print("  {}\n", one.reason);
  print("uprobe/attach", attach);
  print("uprobe/detach", detach);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}
