#pragma once
// Providers that D declares:
//
//   provider name { probe start(struct in *b, int n) : (out_t *b, int n); };
//
// The first list has the arguments that the program passes. The second list has those that a script sees in args[ ]. Each is
// translated from the program's argument of the same name, or else of the same position. A "__" in a probe's name is a "-".

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/types/type.h"
#include "dvm/dif/program.h"
#include "dvm/dif/stability.h"

namespace dvm::compiler {

enum class ProviderPart : uint8_t { provider, module, function, name, args };
inline constexpr std::array kProviderParts = {"provider", "module", "function", "name", "args"};
std::optional<ProviderPart> find_provider_part(std::string_view name);

struct ProbeArgument {
  std::string name;
  const Type* type = nullptr;
  size_t from = 0;  // of a translated argument: the index of the program's argument
};

struct DeclaredProbe {
  std::string name;
  std::vector<ProbeArgument> native, translated;
};

struct DeclaredProvider {
  std::string name;
  std::array<dif::Attributes, kProviderParts.size()> attributes;
  std::deque<DeclaredProbe> probes;
  bool is_of_library = false;

  const DeclaredProbe* find(std::string_view probe) const;
};

class Providers {
 public:
  // The provider of that name; it is created if there is none.
  DeclaredProvider& declare(const std::string& name);
  // The provider may be declared later.
  void set_attributes(const std::string& name, ProviderPart part, const dif::Attributes& attributes);
  // The probes that a description matches. A process id at the end of a provider's name is ignored.
  std::vector<const DeclaredProbe*> match(const dif::ProbeDesc& description) const;
  const std::map<std::string, DeclaredProvider, std::less<>>& all() const { return all_; }
  // The least stable of the fields that a description names.
  dif::Attributes attributes(const dif::ProbeDesc& description) const;
  // The attributes of the arguments of the probes that a description names.
  dif::Attributes argument_attributes(const dif::ProbeDesc& description) const;

 private:
  dif::Attributes part_of(std::string_view provider, ProviderPart part) const;

  std::map<std::string, DeclaredProvider, std::less<>> all_;
};

}  // namespace dvm::compiler
