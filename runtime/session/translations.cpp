// Tested by tests/unit/runtime/engine_test.cpp.

#include "runtime/session/translations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "runtime/probe/prepare.h"

namespace dvm::runtime {
namespace {

const vm::Engine& llvm() { return vm::kEngines[1]; }

// Signals are for dvm's own thread. Throws if there cannot be another thread.
template <class Function>
std::thread start_without_signals(Function function) {
  struct Blocked {
    sigset_t all, before;
    Blocked() {
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Blocked blocked;
  return std::thread(function);
}

// The traced program and dvm come first. A short slice keeps the thread from holding a CPU that dvm wakes up on: where the kernel
// knows of none (before Linux 6.12), the nice value does.
void give_way() {
  struct {
    uint32_t size = sizeof(*this);
    uint32_t policy = SCHED_BATCH;
    uint64_t flags = 0;
    int32_t nice = 10;
    uint32_t priority = 0;
    uint64_t slice = 100'000;  // ns
    uint64_t deadline = 0, period = 0;
  } wanted;
  if (::syscall(SYS_sched_setattr, 0, &wanted, 0) != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), wanted.nice);
}

// Beside dvm's thread on the only CPU, the translator could keep it until the end of a tick, up to 4 ms. While one of these
// lives, a signal makes it look more than a thousand times a second whether dvm's thread waits, and then give way.
class Yielding {
 public:
  explicit Yielding(pid_t to) : statistics_(::open(fmt::format("/proc/self/task/{}/stat", to).c_str(), O_RDONLY | O_CLOEXEC)) {
    struct sigaction action = {};
    action.sa_handler = [](int) { yield(); };
    action.sa_flags = SA_RESTART;
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID, event.sigev_signo = kSignal, event._sigev_un._tid = gettid();
    if (sigaction(kSignal, &action, nullptr) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;
    has_timer_ = true;
    waiting_ = statistics_;
    set_blocked(SIG_UNBLOCK);
    const itimerspec often = {{0, kEvery}, {0, kEvery}};
    timer_settime(timer_, 0, &often, nullptr);
  }
  ~Yielding() {
    if (has_timer_) timer_delete(timer_);
    set_blocked(SIG_BLOCK);
    ::close(statistics_);
  }
  Yielding(const Yielding&) = delete;
  Yielding& operator=(const Yielding&) = delete;

 private:
  static inline const int kSignal = SIGRTMAX;
  static constexpr long kEvery = 500'000;  // ns

  // "PID (NAME) STATE ...". Who is ready to run, waits for this CPU.
  static void yield() {
    const int before = errno;
    char text[64] = {};
    const ssize_t size = ::pread(waiting_, text, sizeof(text) - 1, 0);
    const char* const name_end = size > 0 ? std::strrchr(text, ')') : nullptr;
    if (name_end != nullptr && std::strncmp(name_end, ") R", 3) == 0) ::sched_yield();
    errno = before;
  }
  static void set_blocked(int how) {
    sigset_t signal;
    sigemptyset(&signal);
    sigaddset(&signal, kSignal);
    pthread_sigmask(how, &signal, nullptr);
  }

  static thread_local int waiting_;
  const int statistics_;
  timer_t timer_ = {};
  bool has_timer_ = false;
};
thread_local int Yielding::waiting_ = -1;

double own_cpu_time() { return static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID)); }

}  // namespace

Translations::~Translations() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Translations::take_up() {
  if (config_.options[dif::Option::engine] != 0) return;
  here_.store(::sched_getcpu(), std::memory_order_relaxed);
  if (has_made_.load(std::memory_order_acquire)) take_made();
  ask_for_costly();
}

// From the CPU of dvm's thread, which would wait there until the end of a tick, up to 4 ms. The thread does that by itself: who
// moves another thread waits until it has been moved.
void Translations::keep_off() const {
  cpu_set_t others = allowed_;
  if (const int cpu = here_.load(std::memory_order_relaxed); cpu >= 0) CPU_CLR(static_cast<size_t>(cpu), &others);
  if (CPU_COUNT(&others) > 0) ::sched_setaffinity(0, sizeof(others), &others);
}

void Translations::take_made() {
  std::vector<Made> made;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    made.swap(made_);
    price_ = measured_;
    has_made_ = false;
  }
  add_up_runs();
  for (Made& each : made) {
    if (!each.code.problem.empty()) {
      problems_[each.plan->clause] = std::move(each.code.problem);
      continue;
    }
    note_firings(*each.plan);
    const EcbCode& code = enabling_.replace_code(each.plan->clause, std::move(each.code));
    for (const auto& backend : backends_)
      if (RunsCode* runs = backend->runs_code()) runs->take_up(code);
  }
}

std::string Translations::problem(unsigned clause) const {
  const auto found = problems_.find(clause);
  return found == problems_.end() ? "" : found->second;
}

std::string Translations::take_problem() {
  if (problems_.empty() || std::exchange(has_told_, true)) return "";
  return problems_.begin()->second;
}

void Translations::note_firings(const EcbPlan& plan) {
  interpreted_.resize(runs_.size());
  for (size_t i = 0; i < runs_.size(); i++)
    if (enabling_.ecbs()[i].plan == &plan) interpreted_[i] = runs_[i].firings;
}

void Translations::add_up_runs() {
  runs_.assign(enabling_.ecbs().size(), {});
  for (const auto& backend : backends_) {
    const RunsCode* const code = backend->runs_code();
    const std::span<const EcbRuns> its = code ? code->runs() : std::span<const EcbRuns>();
    for (size_t i = 0; i < std::min(runs_.size(), its.size()); i++) runs_[i] += its[i];
  }
}

double Translations::ns_per_tick() const {
  const double ticks = static_cast<double>(vm::read_ticks() - began_at_);
  return static_cast<double>(read_clock(CLOCK_MONOTONIC) - began_) / std::max(ticks, 1.0);
}

bool Translations::pays(const EcbPlan& plan, const EcbRuns& runs) const {
  if (config_.translates_at_once) return runs.firings > 0;
  return runs.cost(clock_ticks_) * ns_per_tick() > price_.of(plan);
}

void Translations::ask_for_costly() {
  add_up_runs();
  costs_.assign(enabling_.plans().size(), {});
  for (size_t i = 0; i < runs_.size(); i++) costs_[enabling_.ecbs()[i].plan->clause] += runs_[i];
  is_asked_for_.resize(costs_.size());
  for (size_t clause = 0; clause < costs_.size(); clause++) {
    const EcbPlan& plan = enabling_.plans()[clause];
    if (!is_asked_for_[clause] && pays(plan, costs_[clause])) ask_for(plan);
  }
}

bool Translations::start_thread(const EcbPlan& plan) {
  try {
    if (!thread_.joinable()) thread_ = start_without_signals([this] { work(); });
    return true;
  } catch (const std::system_error& error) {
    problems_[plan.clause] = "there is no thread to translate: " + error.code().message();
    return false;
  }
}

void Translations::ask_for(const EcbPlan& plan) {
  is_asked_for_[plan.clause] = true;
  if (!start_thread(plan)) return;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    is_asked_for_[plan.clause] = lock.owns_lock();
    if (!lock) return;  // again at the next poll
    asked_for_.push_back(&plan);
  }
  wake_.notify_one();
}

// Plans and aggregations do not change, and stay where they are.
EcbCode Translations::translate(const EcbPlan& plan, TranslationPrice& price) const {
  const double begin = own_cpu_time();
  (void)llvm().problem();
  const double loaded = own_cpu_time();
  if (!price.is_loaded()) price.add_load(loaded - begin);
  EcbCode code = prepare_code(
      plan, [this](uint32_t id) { return enabling_.aggregation(id); }, config_.cost, llvm());
  price.add(own_cpu_time() - loaded, plan);
  return code;
}

void Translations::work() {
  give_way();
  ::sched_getaffinity(0, sizeof(allowed_), &allowed_);
  TranslationPrice price;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return is_ending_ || !asked_for_.empty(); });
    if (is_ending_) return;
    const EcbPlan& plan = *asked_for_.front();
    asked_for_.pop_front();
    lock.unlock();
    keep_off();
    std::optional<Yielding> yielding;
    if (CPU_COUNT(&allowed_) == 1) yielding.emplace(dvm_);
    EcbCode code = translate(plan, price);
    yielding.reset();
    lock.lock();
    made_.push_back({&plan, std::move(code)});
    measured_ = price;
    has_made_ = true;
  }
}

}  // namespace dvm::runtime
