#pragma once
// The compiler's questions about the traced program: types by name, variables, arguments of functions. Its caller answers them;
// the compiler knows no debug information. Each answer describes one type, and is asked for only when a script needs it.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/program.h"
#include "dvm/dif/type_desc.h"

namespace dvm::compiler {

// args[] of the probes that a description matches.
struct ProbeArguments {
  std::vector<std::vector<dif::ArgumentDesc>> signatures;  // of each probe, up to a limit
  bool is_unstable = false;                                // there are too many to compare
  std::string problem;                                     // why there are none, if more is known
};

class TypeCatalog {
 public:
  // A module is the file of the traced process as a probe description names it; empty: all, the program first. Errors say what
  // was looked through.
  virtual Result<dif::TypeRef> find_type(const std::string& module, dif::DescribedAs as, const std::string& name) = 0;
  virtual Result<dif::ConstantDesc> find_constant(const std::string& module, const std::string& name) = 0;
  virtual Result<dif::DataDesc> find_data(const std::string& module, const std::string& name) = 0;
  virtual std::vector<std::string> similar_data(const std::string& module, const std::string& name) = 0;

  virtual dif::TypeDesc describe(dif::TypeRef type) = 0;
  virtual std::vector<dif::MemberDesc> members(dif::TypeRef type) = 0;
  virtual std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) = 0;

  virtual ProbeArguments arguments(const dif::ProbeDesc& description) = 0;
  // Declarations in D of the providers of markers that a description matches, as the program carries them.
  virtual std::vector<std::string> declarations(const dif::ProbeDesc&) { return {}; }

 protected:
  ~TypeCatalog() = default;
};

}  // namespace dvm::compiler
