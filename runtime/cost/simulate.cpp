// Covered by tests/unit/runtime/simulate_test.cpp.

#include "runtime/cost/simulate.h"

#include <algorithm>
#include <cmath>

#include "runtime/session/pace.h"

namespace dvm::runtime {
namespace {

constexpr double kStep = 1e-3;
constexpr double kBusy = static_cast<double>(kBusyWait) / 1e9, kIdle = static_cast<double>(kIdleWait) / 1e9;

// What a fair scheduler gives a thread, in CPUs, where so many want to run.
double fair_share(double cpus, double wanting) { return std::min(1.0, cpus / std::max(wanting, 1.0)); }

class Simulation {
 public:
  Simulation(const FiringModel& model, const SimulatedMachine& machine, const SimulatedBuffers& buffers)
      : model_(model), machine_(machine), buffers_(buffers) {
    plan_shares();
    result_.machine = machine;
  }

  SimulationResult run(double seconds) {
    const auto steps = std::max(1L, std::lround(seconds / kStep));
    for (long i = 0; i < steps; i++) step(static_cast<double>(i) * kStep);
    const double all = static_cast<double>(steps) * kStep;
    for (double* sum : {&result_.fired, &result_.handled, &result_.ring_drops, &result_.record_drops, &result_.key_drops,
                        &result_.thread_share, &result_.dvm_share, &result_.consumer_share})
      *sum /= all;
    return result_;
  }

 private:
  // Threads that want less than their part leave it to the others: first what they want, then what they get.
  void plan_shares() {
    const double wanted = machine_.threads * std::min(1.0, machine_.rate * model_.thread_ns / 1e9);
    const double handling = machine_.threads * machine_.rate * (model_.dvm_ns + model_.print_ns) / 1e9;
    const double cpus = machine_.cpus;
    dvm_share_ = std::min(1.0, std::max(cpus - wanted, fair_share(cpus, machine_.threads + 1.0)));
    const double left = cpus - std::min(handling, dvm_share_);
    thread_share_ = std::min(1.0, left / machine_.threads);
  }

  double fired_in_step() const {
    const double of_one = model_.thread_ns > 0 ? std::min(machine_.rate, thread_share_ / model_.thread_ns * 1e9) : machine_.rate;
    return of_one * machine_.threads * kStep;
  }

  void step(double now) {
    const double fired = fired_in_step();
    result_.fired += fired;
    result_.thread_share += fired * model_.thread_ns / 1e9;
    fill_ring(fired, now);
    double left = dvm_share_ * kStep * 1e9 - debt_;  // ns that dvm has
    debt_ = std::max(-left, 0.0);
    look(now, left);
    handle(now, left);
    if (now >= next_read_ || is_half_full()) read(now);
  }

  void fill_ring(double fired, double now) {
    const double room = model_.ring_bytes > 0 ? buffers_.ring / model_.ring_bytes - waiting_ : fired;
    const double kept = std::clamp(room, 0.0, fired);
    waiting_ += kept;
    drop(result_.ring_drops, fired - kept, now);
  }

  void look(double now, double& left) {
    if (now < next_look_) return;
    spend(model_.look_ns, result_.consumer_share, left);
    wait_ = waiting_ >= 1 ? kBusy : std::min(2 * wait_, kIdle);
    next_look_ = now + wait_;
  }

  void handle(double now, double& left) {
    const double each = model_.dvm_ns;
    const double handled = each > 0 ? std::min(waiting_, std::max(left, 0.0) / each) : waiting_;
    waiting_ -= handled;
    spend(handled * each, result_.dvm_share, left);
    result_.handled += handled;
    keep_records(handled, now);
    keep_keys(handled, now);
  }

  void keep_records(double handled, double now) {
    if (model_.record_bytes <= 0) return;
    const double busy = std::min(machine_.threads, machine_.cpus);  // a buffer for each CPU
    const double room = buffers_.principal * busy / model_.record_bytes - records_;
    const double kept = std::clamp(room, 0.0, handled);
    records_ += kept;
    drop(result_.record_drops, handled - kept, now);
  }

  // So many different keys are among the firings since the last read, were each as likely.
  void keep_keys(double handled, double now) {
    if (model_.key_bytes <= 0) return;
    since_read_ += handled;
    const double seen = machine_.keys * -std::expm1(-since_read_ / std::max(machine_.keys, 1.0));
    const double room = buffers_.aggregation / model_.key_bytes;
    keys_ = std::min(seen, room);
    if (seen > room) drop(result_.key_drops, handled * (1 - room / machine_.keys), now);
  }

  bool is_half_full() const {
    const double busy = std::min(machine_.threads, machine_.cpus);
    return records_ * model_.record_bytes > buffers_.principal * busy / 2 || keys_ * model_.key_bytes > buffers_.aggregation / 2;
  }

  // What dvm spends on reading it has not for handling.
  void read(double now) {
    const double taken = model_.read_ns + records_ * model_.print_ns + keys_ * model_.key_ns;
    debt_ += taken;
    result_.consumer_share += taken / 1e9;
    records_ = keys_ = since_read_ = 0;
    next_read_ = now + 1 / buffers_.reads_a_second;
  }

  static void spend(double ns, double& share, double& left) {
    share += ns / 1e9;
    left -= ns;
  }

  void drop(double& kind, double count, double now) {
    if (count < 1e-9) return;
    kind += count;
    if (result_.first_drop < 0) result_.first_drop = now;
  }

  const FiringModel& model_;
  const SimulatedMachine& machine_;
  const SimulatedBuffers& buffers_;
  SimulationResult result_;
  double thread_share_ = 1, dvm_share_ = 1;                       // CPUs
  double waiting_ = 0, records_ = 0, keys_ = 0, since_read_ = 0;  // firings in the ring; records; keys; firings
  double next_look_ = 0, next_read_ = 1e-9, wait_ = kBusy;
  double debt_ = 0;  // ns that dvm has spent beyond its time
};

}  // namespace

SimulationResult simulate(const FiringModel& model, const SimulatedMachine& machine, const SimulatedBuffers& buffers,
                          double seconds) {
  return Simulation(model, machine, buffers).run(seconds);
}

double rate_of_first_drop(const FiringModel& model, SimulatedMachine machine, const SimulatedBuffers& buffers, double seconds,
                          double most) {
  const auto drops_at = [&](double rate) {
    machine.rate = rate;
    return simulate(model, machine, buffers, seconds).drops() > 0;
  };
  if (!drops_at(most)) return -1;
  double without = 0, with = most;
  while (with - without > 0.001 * with) {
    const double middle = (without + with) / 2;
    (drops_at(middle) ? with : without) = middle;
  }
  return with;
}

}  // namespace dvm::runtime
