#pragma once
// A traced machine on paper: threads that fire probes, dvm's thread that handles the firings, and the buffers between them, in
// steps of 50 us. The prices are those of a prediction; nothing runs.
//
//   threads ── as often as they would, if their CPU share allows ──> ring ── when dvm looks ──> ECBs ──> principal and
//                                                                     full: drops                        aggregation buffer
//                                                                    consumer, at its rates or when half full <──┘
//
// dvm polls, handles firings until none waits, and sleeps (runtime/session/loop.cpp); the ring must hold what fires meanwhile.
// The other buffers are read when they are half full, so a small one costs time but loses nothing. A principal buffer of policy
// fill ends tracing when it is full, one of policy ring keeps the newest records (runtime/buffer/principal_buffer.h). There are
// as many dynamic variables as live keys or as threads. All keys are equally likely, and a key that finds no room in dynvarsize
// is dropped.
//
// Threads and dvm share the CPUs as a fair scheduler gives them. The threads' work besides firing is unknown and costs nothing
// here.

#include <string>
#include <vector>

#include "dvm/vm/profile.h"
#include "runtime/buffer/principal_buffer.h"
#include "runtime/cost/rows.h"
#include "runtime/cost/table_uses.h"

namespace dvm::runtime {

// Costs of a firing, its bytes, and costs of the consumer.
struct FiringModel {
  // A firing in its thread. It costs rested_ns more after idle time, and shared_ns more while another CPU fires.
  double thread_ns = 0, rested_ns = 0, shared_ns = 0;
  double dvm_ns = 0;  // in dvm, until its records are in a buffer
  // Extra cost of keys.
  TableUses tables;
  // Bytes of a firing in the ring (0: no ring) and in the principal buffer, and those that policy fill reserves for END.
  double ring_bytes = 0, record_bytes = 0, end_bytes = 0;
  double key_bytes = 0;  // a key in the aggregation buffer; 0: none
  // The consumer: printing the records of a firing, one read of the principal buffers, one of the aggregation buffer, merging a
  // key.
  double print_ns = 0, read_records_ns = 0, read_keys_ns = 0, key_ns = 0;
  // A poll, and one where threads use all CPUs.
  double look_ns = 0, shared_look_ns = 0;
  double late_ns = 50e3;  // from the planned poll to the next sleep
  std::vector<DynamicUse> dynamic;
  double translated_after = 0;  // firings on the interpreter until engine=auto has translated each clause
};

struct SimulatedMachine {
  double rate = 0;  // firings a second of each thread, if tracing did not slow it down
  unsigned threads = 1, cpus = 1;
  double keys = 1;  // of aggregations, and live ones of associative arrays
  // CPU slow-down relative to the profile; 1.3 to 1.8 when SMT siblings are busy.
  double slowdown = 1;
  double rests = kUsualRests;  // a second of each thread, where it need not fire all the time
};

struct SimulatedBuffers {
  double ring = 8 << 20, principal = 4 << 20, aggregation = 4 << 20;  // bytes
  double record_reads = 1, key_reads = 1;                             // a second, at least
  BufferPolicy policy = BufferPolicy::switch_;                        // of the principal buffers
  double dynamic = 1 << 20;                                           // bytes of dynamic variables
};

struct SimulationResult {
  SimulatedMachine machine;
  bool is_native = false;  // priced as the machine code that clauses become under engine=auto
  // Events per second; reads are those of buffers by the consumer.
  double fired = 0, handled = 0, ring_drops = 0, reads = 0;
  double first_drop = -1;  // seconds from the start; below 0: none
  // Shares of one CPU; 1 is all of it. The share of dvm does not include the consumer's.
  double thread_share = 0, dvm_share = 0, consumer_share = 0;

  // Dynamic variables: so many live keys, or threads if none has keys, have room; below 0: there are none.
  double most_live = -1;
  double dynamic_drops = 0;        // a second
  double first_dynamic_drop = -1;  // seconds from the start; below 0: none

  double seconds = 0;  // so long it traced: less than was asked for if a buffer of policy fill ended it
  bool is_filled = false;
  // Of policies fill and ring: seconds until a principal buffer is full, also if it is not yet; below 0: none will be.
  double full_after = -1;
  double kept = 0;            // firings whose records are there at the end
  double report_seconds = 0;  // of dvm's CPU time at the end, to print them

  double share() const { return thread_share + dvm_share + consumer_share; }
};

// Simulates so many seconds, from empty buffers.
SimulationResult simulate(const FiringModel& model, const SimulatedMachine& machine, const SimulatedBuffers& buffers,
                          double seconds);

// The lowest rate of each thread, up to `most`, at which more than this part of the firings is dropped (0 to 1); below 0: none.
// Higher rates may drop nothing: dvm does not sleep when much arrives.
double rate_of_first_drop(const FiringModel& model, SimulatedMachine machine, const SimulatedBuffers& buffers, double seconds,
                          double most, double part = 0);

}  // namespace dvm::runtime
