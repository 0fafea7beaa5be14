#pragma once
// All known probes. They are found by id, or by description with globs. Providers add probes; some providers (pid, profile) add
// them only when a description names them.

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
  // Adds a probe with the next id, and returns it. If there is a probe with the same four names, returns that one, and adds to
  // its other_names.
  const Probe& add(Probe probe);
  const Probe* find(uint32_t id) const;
  // The matching probes, in the order in which they were added.
  std::vector<const Probe*> match(const dif::ProbeDesc& description) const;
  size_t size() const { return probes_.size(); }
  const std::deque<Probe>& probes() const { return probes_; }
  // Adds a probe with its id in a recording. False: the id or the name is taken.
  bool add_with_id(Probe probe);

 private:
  struct Names {
    std::string_view provider, module, function, name;
    bool operator==(const Names&) const = default;
  };
  static Names names_of(const Probe& probe) { return {probe.provider, probe.module, probe.function, probe.name}; }
  // A slot of by_name_. probe: position in probes_, from 1; 0: the slot is free.
  struct Slot {
    uint32_t hash = 0, probe = 0;
  };
  static uint32_t hash(const Names& names);
  // The position in probes_, from 1; 0: there is no such probe.
  uint32_t find(const Names& names, uint32_t hash) const;
  const Probe& insert(Probe probe, uint32_t hash);
  void place(Slot slot);

  // A program may have hundreds of thousands of probes, so little is kept for each.
  std::deque<Probe> probes_;   // a deque: addresses must not change
  std::vector<Slot> by_name_;  // open addressing by the hash of the names; size a power of two

  // Probes whose id is not their position.
  std::unordered_map<uint32_t, const Probe*> by_id_;
  uint32_t last_id_ = 0;
};

}  // namespace dvm::runtime
