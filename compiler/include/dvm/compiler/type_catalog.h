#pragma once
// The interface through which the compiler asks its caller for types, variables and function arguments of the traced program. The
// compiler itself reads no debug information. It asks for one type at a time, when a script needs it.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/program.h"
#include "dvm/dif/type_desc.h"

namespace dvm::compiler {

// args[] of the probes that a description matches.
struct ProbeArguments {
  std::vector<std::vector<dif::ArgumentDesc>> signatures;  // one for each probe, up to a limit
  bool is_unstable = false;                                // the limit was reached: there are more probes
  std::string problem;                                     // why there are none; may be empty
};

class TypeCatalog {
 public:
  // A module is a file of the traced process, named as in a probe description; empty: all files, the program first. Errors name
  // the files that were searched.
  virtual Result<dif::TypeRef> find_type(const std::string& module, dif::DescribedAs as, const std::string& name) = 0;
  virtual Result<dif::ConstantDesc> find_constant(const std::string& module, const std::string& name) = 0;
  virtual Result<dif::DataDesc> find_data(const std::string& module, const std::string& name) = 0;
  virtual std::vector<std::string> similar_data(const std::string& module, const std::string& name) = 0;

  virtual dif::TypeDesc describe(dif::TypeRef type) = 0;
  virtual std::vector<dif::MemberDesc> members(dif::TypeRef type) = 0;
  virtual std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) = 0;

  virtual ProbeArguments arguments(const dif::ProbeDesc& description) = 0;
  // The D declarations, embedded in the program, of the providers of the markers that a description matches.
  virtual std::vector<std::string> declarations(const dif::ProbeDesc&) { return {}; }

 protected:
  ~TypeCatalog() = default;
};

}  // namespace dvm::compiler
