// A thread for its stack. Tests: tests/fuzz/compiler_fuzz_test.cpp (DeepNesting).
#include "common/large_stack.h"

#include <pthread.h>

#include <exception>

namespace dvm {

namespace {

constexpr size_t kStackSize = 256 << 20;

struct StackCall {
  const std::function<void()>& f;
  std::exception_ptr error;
};

void* run(void* argument) {
  StackCall& call = *static_cast<StackCall*>(argument);
  try {
    call.f();
  } catch (...) {
    call.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_on_large_stack(const std::function<void()>& f) {
  StackCall call{f, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackSize);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (started)
    pthread_join(thread, nullptr);
  else
    run(&call);  // no thread can be made: use the present stack
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace dvm
