#pragma once
// Turns probe descriptions into probes that are on: when tracing starts, and again when a process has mapped more files.

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/backend/backend.h"
#include "runtime/catalog/catalog.h"
#include "runtime/consumer/consumer.h"
#include "runtime/enabling/enabling.h"
#include "runtime/session/demangled_probes.h"
#include "runtime/session/late_memory.h"

namespace dvm::runtime {

// The process id at the end of a provider's name; 0: none.
int32_t process_of(std::string_view provider);

class Probing {
 public:
  Probing(HandleConfig& config, Catalog& catalog, Enabling& enabling, Consumer& consumer, const BackendList& backends)
      : config_(config), catalog_(catalog), enabling_(enabling), consumer_(consumer), backends_(backends) {}

  void add(std::unique_ptr<Provider> provider) { providers_.push_back(std::move(provider)); }
  std::span<const std::unique_ptr<Provider>> providers() const { return providers_; }
  Discovery discover(const dif::ProbeDesc& description);
  bool has_provider(std::string_view name) const;

  // Makes the ECBs of a program.
  Status enable(const dif::Program& program);
  // Makes the ECBs of all programs on probes with higher ids than this one, and turns these on.
  Status extend(uint32_t last_id);
  // An error if an enabled clause must not run.
  Status check() const;
  // Turns probes on, each in the first backend that takes all its clauses and can enable it.
  Status turn_on(std::span<const EnabledProbe> probes, std::vector<Refused>& refused);
  // Stores the data of the processes that the consumer and clauses may need after these have ended.
  void learn_processes();
  // The traced processes, even if none of their probes has matched yet.
  std::set<int32_t> roots() const;
  // The status of a step. The error is that a process has exited if the step failed and one has, or if it is incomplete and all
  // have.
  Status after_exits(Status status, bool is_complete) const;
  bool is_destructive() const { return !enabling_.destructive_action().empty(); }

 private:
  std::vector<const Probe*> match(const dif::ProbeDesc& description);
  Discovery gone(int32_t pid) const;
  std::vector<std::string> similar_providers(std::string_view name) const;
  struct Left;
  Status turn_on(std::vector<Left>& left, Backend& backend);
  std::string refusal(const EnabledProbe& enabled, const Backend& backend) const;

  HandleConfig& config_;
  Catalog& catalog_;
  Enabling& enabling_;
  Consumer& consumer_;
  const BackendList& backends_;
  std::vector<std::unique_ptr<Provider>> providers_;
  DemangledProbes demangled_;
  LateMemoryNotes late_;
};

}  // namespace dvm::runtime
