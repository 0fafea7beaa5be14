#pragma once
// The checks of dvm doctor (doctor_checks.def).

#include <string>
#include <vector>

namespace dvm::cmd {

// Why something does not work here, and the command that would change it. An empty reason: it works.
struct Finding {
  std::string reason;
  std::string remedy;  // empty: no command changes it
  std::string detail;  // of what works, such as a version

  bool works() const { return reason.empty(); }
};

struct DoctorCheck {
  const char* name;
  bool is_needed;
  Finding (*look)();
  const char* text;
};

const std::vector<DoctorCheck>& doctor_checks();

}  // namespace dvm::cmd
