#pragma once
// Chooses the places where the kernel is asked to put the probes of sites. An entry goes to the cheapest instruction that still
// shows what the clauses read of the entry (runtime/code/entry_place.h), unless the clauses read registers or the script wants
// the first instruction. A return goes to the instructions that leave the function, or becomes a uretprobe (return_plan.h).
//
//   EnabledProbe ──> PlannedSite: offset in the file, shape, and the meaning of a firing there (FiredAt)

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/code/entry_place.h"
#include "runtime/code/module_code.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/return_hazards.h"
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {

// Facts about the origin of a record that it does not hold itself.
struct FiredAt {
  uint32_t probe_id = 0;
  uint32_t moved = 0;              // bytes from the instruction that the probe means
  std::optional<uint32_t> exit{};  // of a return: the offset in the function of what leaves it, 0 if that is not known
  bool is_plain() const { return moved == 0 && !exit; }
};

struct PlannedSite {
  const EnabledProbe* enabled = nullptr;
  const UprobeSite* site = nullptr;  // of that probe
  uint64_t offset = 0;               // in the file
  SiteShape shape = SiteKind::entry;
  FiredAt fired_at;
  bool is_return = false;                  // a uretprobe
  std::optional<ReturnHazards> hazards{};  // of a uretprobe: what it was decided by
};

// The entry of a function, and what a probe tells there.
struct EntrySought {
  FunctionExtent function;
  Told told = kToldAll;
};
// The cheapest places for entries of functions of one file, in their order. A file that cannot be read has none: then all stay.
std::vector<EntryPlace> choose_entries(const ModuleCode& file, std::span<const EntrySought> entries);

// True if a firing keeps words for later ones, or captures memory where they lead to.
bool uses_kept_words(const EnabledProbe& enabled);

// For all uprobe sites among the probes; those of others are left out. What must not be probed is refused. files: kept by the
// caller, because it takes long to learn where the jumps of a large file lead. in_all_processes: that map the files of the sites.
std::vector<PlannedSite> plan_sites(std::span<const EnabledProbe> probes, std::vector<Refused>& refused, ModuleCodes& files,
                                    bool in_all_processes = false);

}  // namespace dvm::runtime
