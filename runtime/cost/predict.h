#pragma once
// Predicts the cost of programs from their DIF and a profile, without tracing. Clauses with the same description are ECBs of the
// same probe and share its flow:
//
//   Program -> clause, description -> (1) flow, (2) predicate, (3) actions -> (4) a firing -> (7) at its rate
//                                                                        records -> (5) (6) the consumer

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/assumptions.h"
#include "runtime/cost/model.h"
#include "runtime/cost/record_shape.h"

namespace dvm::runtime {

struct ClausePrediction {
  dif::SourcePosition position;
  size_t number = 0;  // from 0, of the clauses of all programs
  size_t difos = 0;
  EcbCost cost;
  const dif::EcbDesc* desc = nullptr;  // in its program
  bool is_measured = false;            // the probability of its predicate and its instruction counts were measured
  RecordShape record;                  // of one run of its actions
  std::optional<double> committed;     // the fraction of a speculating clause's records that is printed (committed_share)
};

// The prediction for a probe that an agent takes.
struct AgentPrediction {
  AgentWay way;
  vm::Cost thread, dvm;  // of a firing
};

struct ProbePrediction {
  std::string description;
  SourceShares shares;
  std::string source;          // "pid", or several: "67 % pid_emulated, 33 % pid"
  bool is_of_process = false;  // in a function or at a marker of a process
  bool is_assumed = false;     // the probed instruction is unknown
  vm::Cost trigger;            // the sum of the source's stages
  std::vector<vm::Cost> stages;
  CaptureNeeds needs;     // of the clauses
  vm::Cost capture;       // of them, in the traced thread and in dvm
  vm::Cost thread;        // the part of trigger and capture in the traced thread
  double ring_bytes = 0;  // of a firing in the ring
  vm::Cost prepare;       // starting the firing and its ECBs
  std::vector<ClausePrediction> clauses;
  vm::CostRange firing;
  std::optional<AgentPrediction> agent;  // nothing: another instrument takes it
  double rate = 0;                       // firings a second; 0: not known, or none
  bool is_rate_known = false;
  bool is_rate_named = false;  // the probe's name gives the rate
};

struct Prediction {
  std::vector<ProbePrediction> probes;   // in the order of their first clause
  std::optional<ProbePrediction> error;  // clauses on ERROR. The firings of `probes` include their share of it
  vm::Cost consumer, printing;           // in clocks a second; printing: its part that processes and prints records
  vm::Cost waiting;                      // extra clocks per second to find one of several keys
  vm::Cost woken, waking;                // extra cost after idle time, of a firing and in clocks per second
  Total total;                           // (8), of the probes whose rate is known
  double record_rate = 0;                // bytes a second
  std::set<std::string> missing;         // rows without a price, which cost nothing here
};

Prediction predict(std::span<const dif::Program* const> programs, const vm::Profile& profile, const PredictOptions& options);
inline Prediction predict(const dif::Program& program, const vm::Profile& profile, const PredictOptions& options) {
  const dif::Program* const one = &program;
  return predict(std::span(&one, 1), profile, options);
}

}  // namespace dvm::runtime
