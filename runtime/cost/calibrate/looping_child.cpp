// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/calibrate/looping_child.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/clock.h"
#include "runtime/symbol/maps.h"

// What is called: a push and nops, which the kernel emulates, and a mov, which it steps over; behind one, a push.
extern "C" {
void dvm_stub_emulated();
void dvm_stub_stepped();
void dvm_stub_nop();
void dvm_stub_nop5();
void dvm_stub_moved();
}
asm(".pushsection .text\n"
    ".type dvm_stub_emulated, @function\ndvm_stub_emulated: push %rbp\npop %rbp\nret\n.size dvm_stub_emulated, . - "
    "dvm_stub_emulated\n"
    ".type dvm_stub_nop, @function\ndvm_stub_nop: nop\nret\n.size dvm_stub_nop, . - dvm_stub_nop\n"
    ".type dvm_stub_nop5, @function\ndvm_stub_nop5: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\nret\n.size dvm_stub_nop5, . - "
    "dvm_stub_nop5\n"
    ".type dvm_stub_moved, @function\ndvm_stub_moved: .byte 0x89, 0xf8\npush %rbp\npop %rbp\nret\n.size dvm_stub_moved, . - "
    "dvm_stub_moved\n"
    ".type dvm_stub_stepped, @function\ndvm_stub_stepped: mov %edi, %eax\nret\n.size dvm_stub_stepped, . - dvm_stub_stepped\n"
    ".popsection");

namespace dvm::runtime {
namespace {

struct Order {
  Stub stub;
  uint64_t times;
};

using Function = void (*)();

void system_call() { syscall(SYS_getppid); }
void signal_itself() { kill(getpid(), SIGURG); }

Function function_of(Stub stub) {
  switch (stub) {
    case Stub::emulated:
      return dvm_stub_emulated;
    case Stub::stepped:
      return dvm_stub_stepped;
    case Stub::nop:
      return dvm_stub_nop;
    case Stub::nop5:
      return dvm_stub_nop5;
    case Stub::moved:
      return dvm_stub_moved;
    case Stub::system_call:
      return system_call;
    case Stub::signal:
      return signal_itself;
    case Stub::loop:
      break;
  }
  return nullptr;
}

void spin(uint64_t times) {
  for (uint64_t i = 0; i < times; i++) asm volatile("");
}

[[noreturn]] void serve(int orders, int answers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Order order;
  while (read(orders, &order, sizeof order) == sizeof order) {
    Function volatile function = function_of(order.stub);
    const clockid_t clock = function == nullptr ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const uint64_t begin = read_clock(clock);
    if (function == nullptr) spin(order.times);
    for (uint64_t i = 0; function != nullptr && i < order.times; i++) function();
    const uint64_t taken = read_clock(clock) - begin;
    if (write(answers, &taken, sizeof taken) != sizeof taken) break;
  }
  _exit(0);
}

Error system_error(const char* what) { return {std::string(what) + ": " + std::strerror(errno)}; }

}  // namespace

Result<std::unique_ptr<LoopingChild>> LoopingChild::start() {
  int orders[2], answers[2];
  if (pipe(orders) != 0) return system_error("failed to make a pipe");
  if (pipe(answers) != 0) {
    const Error error = system_error("failed to make a pipe");
    close(orders[0]), close(orders[1]);
    return error;
  }
  std::unique_ptr<LoopingChild> child(new LoopingChild);
  child->to_child_ = orders[1], child->from_child_ = answers[0];
  child->pid_ = fork();
  if (child->pid_ == 0) {
    close(orders[1]), close(answers[0]);
    serve(orders[0], answers[1]);
  }
  const int error = errno;
  close(orders[0]), close(answers[1]);
  errno = error;
  if (child->pid_ < 0) return system_error("failed to fork");
  return child;
}

LoopingChild::~LoopingChild() {
  close(to_child_), close(from_child_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Status LoopingChild::call(Stub stub, uint64_t times) {
  const Order order{stub, times};
  times_ = times;
  return write(to_child_, &order, sizeof order) == sizeof order ? Status() : system_error("failed to write to a child");
}

bool LoopingChild::is_done() const {
  pollfd answer{from_child_, POLLIN, 0};
  return poll(&answer, 1, 0) != 0;
}

Result<double> LoopingChild::finish() {
  uint64_t taken = 0;
  if (read(from_child_, &taken, sizeof taken) != sizeof taken) return Error{"the child that was measured ended early"};
  return static_cast<double>(taken) / static_cast<double>(times_);
}

Result<uint64_t> offset_of(Stub stub) {
  constexpr uint64_t kMov = 2;  // bytes before the push
  const auto address = reinterpret_cast<uintptr_t>(function_of(stub)) + (stub == Stub::moved ? kMov : 0);
  const auto objects = mapped_objects(getpid());
  if (!objects) return objects.error();
  const MappedObject* program = object_at(*objects, address);
  if (program == nullptr) return Error{"the program does not find itself among what it has mapped"};
  return address - program->address + program->offset;
}

}  // namespace dvm::runtime
