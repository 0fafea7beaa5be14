// Covered by tests/runtime/scenarios/test_lsp.py.

#include "compiler/types/type.h"
#include "dvm/compiler/compile.h"

namespace dvm::compiler {
namespace {

std::vector<MemberOfType> members_of(const Type& type) {
  const Type& record = cls(&type) == TypeClass::pointer ? resolve(*target_of(&type)) : resolve(type);
  if (record.cls != TypeClass::record) return {};
  if (record.fields.empty() && record.source != nullptr) record.source->add_members(record);
  std::vector<MemberOfType> members;
  for (const Field& field : record.fields) members.push_back({field.name, field.type->name});
  return members;
}

}  // namespace

std::vector<MemberOfType> members_of_last(const Source& source, CompileOptions options) {
  std::vector<MemberOfType> members;
  options.see_selected = [&](const Type& type) { members = members_of(type); };
  compile({&source, 1}, options);
  return members;
}

}  // namespace dvm::compiler
