#pragma once
// Shared by the tests of the uprobe instrument: the functions that the child calls (traced_functions.cpp), and collectors of
// firings.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/process/captured_unreadable.h"
#include "tests/support/skip.h"
#include "tests/support/tracing_privilege.h"
#include "tests/unit/instrument/traced_child.h"

extern "C" {
extern volatile long traced_sink;
long traced_plain(long a);
long traced_second(long a);
long traced_ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j);
long traced_text(const char* text);
// Their first instructions are not probed by the kernel: one has a lock prefix, the other does not exist in 64-bit mode.
void traced_locked();
void traced_invalid();
// With a place inside, where the arguments lie as OperandsInsideAFunction says.
long traced_inside(const int* numbers, long, long, long, long, long, long seventh, long eighth);
void traced_inside_here();
}

namespace dvm::runtime {

using test::file_offset;
using test::TracedChild;

struct Seen {
  vm::Firing firing;
  std::string execname;
  std::vector<std::string> memory;
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> callers;
  std::vector<uint64_t> unreadable = {};  // addresses
};

class Collector final : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override {
    Seen seen{firing, std::string(firing.execname), {}, {}, {firing.user_stack().begin(), firing.user_stack().end()}};
    for (const vm::CapturedMemory& captured : firing.memory) {
      if (is_unreadable(captured)) {
        seen.unreadable.push_back(captured.address & ~kUnreadableAt);
        continue;
      }
      seen.memory.emplace_back(reinterpret_cast<const char*>(captured.bytes.data()), captured.bytes.size());
      seen.addresses.push_back(captured.address);
    }
    all.push_back(std::move(seen));
    return true;
  }
  std::vector<Seen> all;
};

class Counter final : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override { return count[firing.probe_id]++, true; }
  std::map<uint32_t, uint64_t> count;
};

inline const void* address_of(auto* function) { return reinterpret_cast<const void*>(function); }

inline Probe probe_on(pid_t pid, auto* function, uint32_t id, bool is_return = false) {
  Probe probe;
  probe.id = id;
  probe.module = "uprobe_test";
  probe.function = "traced";
  probe.site = UprobeSite{"/proc/" + std::to_string(pid) + "/exe", file_offset(address_of(function)), is_return, pid};
  return probe;
}

inline std::string with_nul(const std::string& text) { return text + '\0'; }

class Uprobe : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = dvm::test::why_no_uprobes(); !missing.empty()) DVM_SKIP(missing);
    TracedChild child({[] { traced_plain(1); }});
    const Probe probe = probe_on(child.pid(), &traced_plain, 1);
    auto instrument = make_uprobe_instrument();
    const Status status = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_);
    ASSERT_TRUE(status) << status.error().message;
  }

  // Enables the probes, runs job 0 of the child once and takes everything off again.
  std::vector<Seen> trace(TracedChild& child, std::vector<EnabledProbe> probes) {
    auto instrument = make_uprobe_instrument();
    const Status status = instrument->enable(probes, refused_);
    EXPECT_TRUE(status) << status.error().message;
    EXPECT_TRUE(child.call(0));
    instrument->disable();
    Collector collector;
    EXPECT_TRUE(instrument->poll(collector));
    EXPECT_EQ(instrument->drops(), 0u);
    return collector.all;
  }

  std::vector<Refused> refused_;
};

}  // namespace dvm::runtime
