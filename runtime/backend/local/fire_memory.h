#pragma once
// The memory in which plans run: buffers, speculations, variables and machine states. It is allocated when tracing starts, in the
// sizes of the options, so the ECB loop (runtime/probe/) allocates nothing. Consumer context.

#include <functional>
#include <string>
#include <string_view>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "dvm/vm/host.h"
#include "runtime/backend/backend.h"
#include "runtime/enabling/enabling.h"
#include "runtime/probe/context.h"

namespace dvm::runtime {

// Fails if a record or an entry of an aggregation does not fit into its buffer. for_end: bytes that are set apart for END.
Status check_sizes(const Enabling& enabling, size_t for_end, size_t bufsize, size_t aggsize);

class FireMemory {
 public:
  FireMemory(dif::Options& options, const Enabling& enabling, bool is_accounted)
      : options_(options), enabling_(enabling), is_accounted_(is_accounted) {}

  // Allocates memory for the enabled ECBs. If memory is short, sizes are reduced, unless option bufresize forbids it.
  Status allocate(vm::Host& host, const Notice& notice);
  // Allocates memory for ECBs that were made later.
  Status make_room();

  // Allocates memory for code that replaces other code.
  void take_up(const EcbCode& code);

  FireContext& context() { return context_; }
  const FireContext& context() const { return context_; }

 private:
  size_t size_of(dif::Option option) const;
  Status fit(dif::Option option, std::string_view what, const Notice& notice, const std::function<bool(size_t)>& make);
  Status allocate_buffers(const Notice& notice);
  Status allocate_speculations(const Notice& notice);
  Status allocate_state(vm::Host& host, const Notice& notice);
  void make_tallies();

  dif::Options& options_;
  const Enabling& enabling_;
  bool is_accounted_;
  FireContext context_;
};

}  // namespace dvm::runtime
