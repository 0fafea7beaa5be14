#pragma once
// Plans the breakpoints and system call stops of each process for the enabled probes.
//
//   addresses      One debug register each, and one for returns: at most four.
//   system calls   Stops at begin and end (Pace::calls), in addition to the registers.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/code/module_code.h"
#include "runtime/instrument/breakpoint/held_threads.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/return_plan.h"
#include "runtime/symbol/file_key.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// One probe at one address. Several probes at one address fire in the order of their kinds.
struct FiredProbe {
  enum class Kind : uint8_t { entry, inside, call };
  Kind kind = Kind::entry;  // call: fires at the return of the function that begins here
  uint64_t cookie = 0;
  const UprobeSite* site = nullptr;
  FileKey file{};  // of the site; the same path may lead to another file later
};

struct TracedProcess {
  std::map<uint64_t, std::vector<FiredProbe>> sites;                       // by address
  std::map<std::pair<FileKey, uint64_t>, std::vector<FiredProbe>> absent;  // their files are not mapped now; by offset
  std::map<uint64_t, std::vector<uint64_t>> begins,
      ends;  // of system calls, by number: cookies
  bool has_returns = false;

  size_t places() const { return sites.size() + absent.size(); }
  size_t registers() const { return places() + (has_returns ? 1 : 0); }
  bool has_calls() const { return !begins.empty() || !ends.empty(); }
  Pace pace() const { return has_calls() ? Pace::calls : Pace::run; }
};

using TracedProcesses = std::map<pid_t, TracedProcess>;

class BreakpointPlanner {
 public:
  explicit BreakpointPlanner(Delivery& delivery) : delivery_(delivery) {}

  Status add(const EnabledProbe& enabled, TracedProcesses& processes, std::vector<Refused>& refused);
  // Moves the sites of a process to where their files are mapped now. Those of files that it has closed are kept aside: other
  // code may lie there. False: all stay.
  bool move(pid_t pid, TracedProcess& process);
  // Makes the next add() read the mappings of processes and their files again.
  void forget_objects() {
    objects_.clear();
    files_ = {};
  }

 private:
  Status add_site(const EnabledProbe& enabled, const UprobeSite& site, TracedProcesses& processes, std::vector<Refused>& refused);
  Status add_event(const EnabledProbe& enabled, const KernelEvent& event, TracedProcesses& processes,
                   std::vector<Refused>& refused);
  Result<uint64_t> make_cookie_of(const EnabledProbe& enabled, const FiredAt& fired, const SiteShape& shape, pid_t pid);
  uint32_t only_exit(const UprobeSite& site);
  std::string_view harm_at(const UprobeSite& site);
  const std::vector<MappedObject>& objects(pid_t pid);

  Delivery& delivery_;
  ReturnPlanner returns_;
  std::map<pid_t, std::vector<MappedObject>> objects_;
  ModuleCodes files_;
};

}  // namespace dvm::runtime
