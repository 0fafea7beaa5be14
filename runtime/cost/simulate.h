#pragma once
// Simulates a traced machine in steps of 50 us: threads that fire probes, dvm's thread that handles the firings, and the buffers
// between them. It uses the prices of a prediction, and runs nothing.
//
//   threads ── at their rate, as their share of the CPU allows ──> ring ── dvm polls ──> ECBs ──> principal and
//                                                                  full: drops                   aggregation buffers
//                                                                                                          │
//                                                             consumer, at its rates or when half full <───┘
//
// dvm polls, handles firings until none is left, and sleeps (runtime/session/loop.cpp). Meanwhile the ring must hold the firings.
// The other buffers are read when they are half full, so a small one costs time but loses nothing. A principal buffer of policy
// fill ends tracing when it is full; one of policy ring keeps the newest records (runtime/buffer/principal_buffer.h). There are
// as many dynamic variables as live keys or as threads. All keys are equally likely. A key for which dynvarsize has no room is
// dropped.
//
// Threads and dvm share the CPUs as under a fair scheduler. The threads' own work is unknown and costs nothing here.

#include <vector>

#include "runtime/buffer/principal_buffer.h"
#include "runtime/cost/rows.h"
#include "runtime/cost/table_uses.h"

namespace dvm::runtime {

// Costs and bytes of a firing, if nothing else is said.
struct FiringModel {
  double thread_ns = 0, woken_ns = 0, shared_ns = 0;  // in its thread; extra after idle time; extra while another CPU fires
  double dvm_ns = 0;                                  // in dvm, until the records are in a buffer
  TableUses tables;                                   // extra cost of lookups among several keys
  double ring_bytes = 0;                              // 0: no ring
  double record_bytes = 0, end_bytes = 0;             // in the principal buffer; reserved there for END by policy fill
  double key_bytes = 0;                               // of a key in the aggregation buffer; 0: none
  double print_ns = 0, read_records_ns = 0;           // to print its records; to read the principal buffers
  double read_keys_ns = 0, key_ns = 0;                // to read the aggregation buffer; to merge a key
  double poll_ns = 0, shared_poll_ns = 0;             // of a poll; of one while threads use all CPUs
  double late_ns = 50e3;                              // from the planned poll to the next sleep
  std::vector<DynamicUse> dynamic;
  double translated_after = 0;  // firings on the interpreter until engine=auto has translated each clause
};

struct SimulatedMachine {
  double rate = 0;  // firings a second of each thread, if tracing did not slow it down
  unsigned threads = 1, cpus = 1;
  double keys = 1;             // of aggregations, and live ones of associative arrays
  double slowdown = 1;         // of the CPU, relative to the profile; 1.3 to 1.8 when SMT siblings are busy
  double wakes = kUsualWakes;  // wake-ups from idle per second of each thread, if it is ever idle
};

struct SimulatedBuffers {
  double ring = 8 << 20, principal = 4 << 20, aggregation = 4 << 20;  // bytes
  double record_reads = 1, key_reads = 1;                             // least reads per second
  BufferPolicy policy = BufferPolicy::switch_;                        // of the principal buffers
  double dynamic = 1 << 20;                                           // bytes of dynamic variables
};

struct SimulationResult {
  SimulatedMachine machine;
  bool is_native = false;  // with the prices of machine code, which runs later under engine=auto
  double fired = 0, handled = 0, ring_drops = 0, reads = 0;    // a second; reads: of buffers by the consumer
  double first_drop = -1;                                      // seconds from the start; below 0: none
  double thread_share = 0, dvm_share = 0, consumer_share = 0;  // of one CPU; dvm's is without the consumer's
  double most_live = -1;           // live keys (threads, if no variable has keys) whose variables fit; below 0: there are none
  double dynamic_drops = 0;        // a second
  double first_dynamic_drop = -1;  // seconds from the start; below 0: none
  double seconds = 0;              // simulated time; less than requested if a buffer of policy fill ended tracing
  bool is_filled = false;          // it did
  double full_after = -1;          // under policies fill and ring: seconds, possibly after the end; below 0: never
  double kept = 0;                 // firings whose records are in the buffers at the end
  double report_seconds = 0;       // CPU time of dvm at the end, to print them

  double share() const { return thread_share + dvm_share + consumer_share; }
};

// Simulates `seconds`, from empty buffers.
SimulationResult simulate(const FiringModel& model, const SimulatedMachine& machine, const SimulatedBuffers& buffers,
                          double seconds);

// The lowest rate of each thread, up to `most`, at which more than the fraction `part` of the firings is dropped; negative: none.
// At higher rates, drops may stop, because dvm then does not sleep.
double rate_of_first_drop(const FiringModel& model, SimulatedMachine machine, const SimulatedBuffers& buffers, double seconds,
                          double most, double part = 0);

}  // namespace dvm::runtime
