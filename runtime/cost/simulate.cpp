// Covered by tests/unit/runtime/simulate_test.cpp.

#include "runtime/cost/simulate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/cost/model.h"

namespace dvm::runtime {
namespace {

constexpr double kStep = 50e-6;
constexpr double kNever = 1e300;

// CPUs for each thread, and for dvm.
struct Shares {
  double thread = 1, dvm = 1;
};

// The shares of a fair scheduler: who wants less than its part leaves the rest. The more the threads get, the more dvm wants.
Shares fair_shares(const FiringModel& model, const SimulatedMachine& machine, double thread_ns) {
  const double cpus = machine.cpus, threads = machine.threads;
  const double wanted = std::min(1.0, machine.rate * thread_ns / 1e9);
  const double fair = std::min(1.0, cpus / (threads + 1));
  const double least = std::min(1.0, std::max(cpus - threads * wanted, fair));  // that dvm can have
  if (thread_ns <= 0) return {1, least};
  const double handling = threads * (model.dvm_ns + model.print_ns) / thread_ns;  // of dvm, for all of a thread's time
  const double balanced = cpus / (threads + handling);                            // all CPUs busy, and dvm keeps up
  const double thread = std::min(wanted, balanced * handling <= least ? balanced : (cpus - least) / threads);
  return {thread, thread * handling <= least ? 1 : least};  // one that wants little runs as soon as it wants to
}

// Each firing waits for those of other CPUs that are in the ring at the same time: the more firings, the dearer is one.
double contended_ns(const FiringModel& model, const SimulatedMachine& machine, double thread_share) {
  const double cpus = std::min(machine.threads, machine.cpus);
  return model.thread_ns + model.shared_ns * (cpus - 1) * std::min(1.0, thread_share * machine.threads / cpus);
}

FiringModel slowed(FiringModel model, double times) {
  for (double* time : {&model.thread_ns, &model.woken_ns, &model.shared_ns, &model.dvm_ns, &model.print_ns,
                       &model.read_records_ns, &model.read_keys_ns, &model.key_ns, &model.poll_ns, &model.shared_poll_ns})
    *time *= times;
  model.tables.scale(times);
  return model;
}

class Simulation {
 public:
  Simulation(const FiringModel& model, const SimulatedMachine& machine, const SimulatedBuffers& buffers)
      : model_(slowed(model, machine.slowdown)), machine_(machine), buffers_(buffers) {
    model_.dvm_ns += model_.tables.keys.among(machine.keys);
    if (machine.threads >= machine.cpus) model_.poll_ns = model_.shared_poll_ns;
    if (keeps_records()) report_ns_ = std::exchange(model_.print_ns, 0);
    plan_shares();
    if (model.record_bytes > 0) plan_records();
    if (model.key_bytes > 0) most_keys_ = buffers.aggregation / 2 / model.key_bytes;
    if (!model.dynamic.empty()) plan_dynamic();
    result_.machine = machine;
  }

  SimulationResult run(double seconds) {
    const auto steps = std::max(1L, std::lround(seconds / kStep));
    long done = 0;
    while (done < steps && !is_over_) step(static_cast<double>(done++) * kStep);
    result_.seconds = static_cast<double>(done) * kStep;
    if (keeps_records()) report();
    for (double* sum : {&result_.fired, &result_.handled, &result_.ring_drops, &result_.reads, &result_.thread_share,
                        &result_.dvm_share, &result_.consumer_share, &result_.dynamic_drops})
      *sum /= result_.seconds;
    return result_;
  }

 private:
  // Until the end.
  bool keeps_records() const { return buffers_.policy != BufferPolicy::switch_; }

  // There is a principal buffer for each CPU; threads stay on theirs, spread over them. Firings until one of policy switch is
  // half full, until the first of policy fill is full, until all of policy ring are.
  void plan_records() {
    const double threads = machine_.threads, cpus = std::min<double>(machine_.threads, machine_.cpus);
    if (!keeps_records()) return void(most_records_ = buffers_.principal / 2 * cpus / model_.record_bytes);
    const bool is_fill = buffers_.policy == BufferPolicy::fill;
    const double size = 8 * std::floor(buffers_.principal / 8) - (is_fill ? model_.end_bytes : 0);
    const double of_one = std::floor(std::max(size, 0.0) / model_.record_bytes);
    room_ = of_one * (is_fill ? threads / std::ceil(threads / cpus) : cpus);
  }

  void plan_dynamic() {
    const bool of_keys = have_keys(model_.dynamic);
    result_.most_live = most_live(model_.dynamic, buffers_.dynamic, machine_.threads);
    live_ = of_keys ? machine_.keys : machine_.threads;
    for (const DynamicUse& use : model_.dynamic)
      if (use.has_keys == of_keys) stores_ += use.stores, most_stores_ = std::max(most_stores_, use.stores);
    if (of_keys) model_.dvm_ns += model_.tables.tuples.among(live_tuples());
  }

  // At the end; where no buffer is full yet it is as far off as the records came so far.
  void report() {
    if (room_ >= kNever) return;  // none are left
    result_.kept = std::min(records_, room_);
    result_.report_seconds = (model_.read_records_ns + result_.kept * report_ns_) / 1e9;
    result_.is_filled = is_over_;
    if (result_.full_after < 0 && records_ > 0) result_.full_after = result_.seconds * room_ / records_;
  }

  // The share of a thread's firings after idle time. A thread that is never idle has none.
  double woken_share() const {
    if (machine_.rate <= 0 || machine_.rate * model_.thread_ns >= 1e9) return 0;
    return std::min(machine_.wakes, machine_.rate) / machine_.rate;
  }

  // What the threads get says how dear their firings are, and these what they want.
  void plan_shares() {
    constexpr int kRounds = 30;
    model_.thread_ns += model_.woken_ns * woken_share();
    const FiringModel alone = model_;
    for (int i = 0; i < kRounds; i++) {
      shares_ = fair_shares(model_, machine_, model_.thread_ns);
      model_.thread_ns = contended_ns(alone, machine_, shares_.thread);
    }
  }

  double fired_in_step() const {
    const double of_one = model_.thread_ns > 0 ? std::min(machine_.rate, shares_.thread / model_.thread_ns * 1e9) : machine_.rate;
    return of_one * machine_.threads * kStep;
  }

  void step(double now) {
    now_ = now;
    const double fired = fired_in_step();
    result_.fired += fired;
    result_.thread_share += fired * model_.thread_ns / 1e9;
    fill_ring(fired, now);
    if (records_ + waiting_ >= room_ && result_.full_after < 0) result_.full_after = now + kStep;  // by what has fired
    left_ = std::min(left_, 0.0) + shares_.dvm * kStep * 1e9;  // what it has overdrawn it has not now
    if (!is_awake_ && now >= next_poll_) wake_up();
    if (is_awake_) handle();
    if (is_awake_ && waiting_ < 1 && !(is_over_ = is_filled())) sleep(now);
    if (!keeps_records() && now + kStep >= next_record_read_) read_records(), next_record_read_ += 1 / buffers_.record_reads;
    if (now + kStep >= next_key_read_) read_keys(), next_key_read_ += 1 / buffers_.key_reads;
  }

  void fill_ring(double fired, double now) {
    const double room = model_.ring_bytes > 0 ? buffers_.ring / model_.ring_bytes - waiting_ : fired;
    const double kept = std::clamp(room, 0.0, fired);
    waiting_ += kept;
    if (fired - kept < 1e-9) return;
    result_.ring_drops += fired - kept;
    if (result_.first_drop < 0) result_.first_drop = now;
  }

  void wake_up() {
    is_awake_ = true, found_ = 0, polled_ = waiting_;
    if (wait_ > 0) spend(model_.poll_ns, result_.consumer_share);
  }

  void sleep(double now) {
    is_awake_ = false;
    const double filled = found_ * model_.ring_bytes / wanted_bytes(buffers_.ring);
    wait_ = wait_after(filled, 1e9 * (now - slept_at_), wait_);
    next_poll_ = wait_ > 0 ? now + (wait_ + model_.late_ns) / 1e9 : now;  // where it does not sleep it is not late either
    slept_at_ = now;
  }

  void handle() {
    const double each = model_.dvm_ns;
    if (polled_ < 1e-9) polled_ = waiting_;
    while (waiting_ > 1e-9 && left_ > 0 && !is_over_) {
      const double in_time = each > 0 ? std::max(left_ / each, 1e-6) : waiting_;
      const double handled = std::min({waiting_, polled_, in_time, std::max(firings_until_half_full(), 1.0)});
      waiting_ -= handled, polled_ -= handled, result_.handled += handled;
      found_ += handled;
      records_ += handled, since_read_ += handled;
      if (live_ > result_.most_live) store(handled);
      spend(handled * each, result_.dvm_share);
      if (records_ >= most_records_) read_records(), read_keys();
      if (keys() >= most_keys_) read_keys();
      if (polled_ < 1e-9 && !(is_over_ = is_filled())) polled_ = waiting_;
    }
  }

  double live_tuples() const { return std::min(live_, result_.most_live); }

  // Under more keys than have room: nothing is dropped until so many have been seen.
  void store(double firings) {
    const double seen = different(live_, result_.handled * most_stores_);
    if (stores_ == 0 || seen < result_.most_live) return;
    result_.dynamic_drops += firings * stores_ * (1 - result_.most_live / live_);
    if (result_.first_dynamic_drop < 0) result_.first_dynamic_drop = now_;
  }

  // True if a record found no room in a buffer of policy fill.
  bool is_filled() const { return buffers_.policy == BufferPolicy::fill && records_ >= room_ + 1; }

  // So many different keys are among the firings since the last read.
  double keys() const { return model_.key_bytes > 0 ? different(machine_.keys, since_read_) : 0; }

  double firings_until_half_full() const {
    const double until_keys = most_keys_ < machine_.keys ? -machine_.keys * std::log1p(-most_keys_ / machine_.keys) : kNever;
    return std::min(most_records_ - records_, until_keys - since_read_);
  }

  // What dvm spends on reading it has not for handling.
  void read_records() {
    spend(model_.read_records_ns + records_ * model_.print_ns, result_.consumer_share);
    records_ = 0, result_.reads++;
  }
  void read_keys() {
    spend(model_.read_keys_ns + keys() * model_.key_ns, result_.consumer_share);
    since_read_ = 0, result_.reads++;
  }

  void spend(double ns, double& share) {
    share += ns / 1e9;
    left_ -= ns;
  }

  FiringModel model_;  // with what a firing costs on this machine
  const SimulatedMachine& machine_;
  const SimulatedBuffers& buffers_;
  Shares shares_;
  SimulationResult result_;
  double most_records_ = kNever, most_keys_ = kNever;  // in half a buffer
  double report_ns_ = 0;                               // of a firing's records that are printed at the end
  double room_ = kNever;                               // for the records of so many firings, in buffers that are read at the end
  double polled_ = 0;                                  // firings that waited at the last poll, and still do
  double waiting_ = 0, records_ = 0, since_read_ = 0;  // firings: in the ring, recorded, aggregated
  double next_poll_ = 0, slept_at_ = 0, found_ = 0, wait_ = kShortestWait;
  double next_record_read_ = 1 / buffers_.record_reads, next_key_read_ = 1 / buffers_.key_reads;
  double live_ = 0, stores_ = 0, most_stores_ = 0;  // keys of dynamic variables; stores by a firing, to all and to one of them
  double now_ = 0;
  bool is_awake_ = false, is_over_ = false;
  double left_ = 0;  // ns that dvm has in this step; below 0: that it has spent of the next ones
};

}  // namespace

SimulationResult simulate(const FiringModel& model, const SimulatedMachine& machine, const SimulatedBuffers& buffers,
                          double seconds) {
  return Simulation(model, machine, buffers).run(seconds);
}

double rate_of_first_drop(const FiringModel& model, SimulatedMachine machine, const SimulatedBuffers& buffers, double seconds,
                          double most, double part) {
  const auto drops_at = [&](double rate) {
    machine.rate = rate;
    const SimulationResult result = simulate(model, machine, buffers, seconds);
    return result.ring_drops > part * result.fired;
  };
  constexpr double kLeast = 100;
  double without = 0, with = std::min(kLeast, most);
  for (; !drops_at(with); with = std::min(2 * with, most))
    if (without = with; with >= most) return -1;
  while (with - without > 0.001 * with) {
    const double middle = (without + with) / 2;
    (drops_at(middle) ? with : without) = middle;
  }
  return with;
}

}  // namespace dvm::runtime
