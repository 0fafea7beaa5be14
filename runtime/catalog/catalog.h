#pragma once
// All probes that are known: found by id, and by description with globs. Providers add probes, some of them only when a
// description asks for them (pid, profile).

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dvm/dif/program.h"
#include "runtime/catalog/probe.h"

namespace dvm::runtime {

// DTrace's globs: * ? [a-z] [!a-z] \x; an empty pattern matches everything.
bool glob_match(std::string_view pattern, std::string_view text);
// True if the pattern may match more than one name.
bool is_glob(std::string_view pattern);
// True if a description's module field names this object of a process. It may be the base name, the base name up to a dot
// ("libc"), the full path, or a.out for the program itself. A program started through a link also matches the base name of its
// file.
bool module_match(std::string_view pattern, std::string_view module, std::string_view object, bool in_program);

class Catalog {
 public:
  // Adds a probe and gives it the next id; a probe with the same four names is kept and returned instead; it gets further
  // other_names.
  const Probe& add(Probe probe);
  const Probe* find(uint32_t id) const;
  // In the order of their ids, if they were added in it.
  std::vector<const Probe*> match(const dif::ProbeDesc& description) const;
  size_t size() const { return probes_.size(); }
  const std::deque<Probe>& probes() const { return probes_; }
  // Adds a probe under the id it had elsewhere: reading a recording. False: the id or the name is taken.
  bool add_with_id(Probe probe);

 private:
  struct Names {
    std::string_view provider, module, function, name;
    bool operator==(const Names&) const = default;
  };
  static Names names_of(const Probe& probe) { return {probe.provider, probe.module, probe.function, probe.name}; }
  // A place in by_name_: `probe` counts from 1, 0 is a free one.
  struct Slot {
    uint32_t hash = 0, probe = 0;
  };
  static uint32_t hash(const Names& names);
  // Its place in probes_, from 1; 0: there is none.
  uint32_t find(const Names& names, uint32_t hash) const;
  const Probe& insert(Probe probe, uint32_t hash);
  void place(Slot slot);

  // A program may have hundreds of thousands of probes, so little is kept for each.
  std::deque<Probe> probes_;                          // addresses stay
  std::vector<Slot> by_name_;                         // open addressing by the hash of the names; a power of two
  std::unordered_map<uint32_t, const Probe*> by_id_;  // probes whose id is not their place
  uint32_t last_id_ = 0;
};

}  // namespace dvm::runtime
