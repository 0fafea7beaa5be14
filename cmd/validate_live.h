#pragma once
// dvm cost validate on live processes: built-in experiments, predicted from a profile and measured on this machine.

#include <string>
#include <vector>

namespace dvm::cmd {

struct LiveValidateOptions {
  std::string profile;
  std::vector<std::string> only;  // rows or groups; empty: all
  std::string report;             // a Markdown file; its drawings lie beside it
  bool quick = false, as_json = false;
};

int validate_live(const LiveValidateOptions& given);

}  // namespace dvm::cmd
