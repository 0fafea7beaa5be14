#pragma once
// Imports types of the traced program into D. A type is imported at its first use, and the members of a structure when the first
// of them is used. So a structure brings in the types of its members, but not the types to which these point.
//
// Debug information describes a structure once for each file that uses it. Types with the same name, size and line are treated as
// one type, so that pointers from different files are compatible.

#include <map>
#include <string>
#include <tuple>

#include "compiler/types/type_table.h"
#include "dvm/common/result.h"
#include "dvm/compiler/type_catalog.h"

namespace dvm::compiler {

class TypeImporter final : public MemberSource {
 public:
  // catalog: null if there is no program; then nothing is found.
  TypeImporter(TypeTable& types, TypeCatalog* catalog) : types_(types), catalog_(catalog) {}

  // keyword: struct, union or enum; empty: a typedef or basic type. The error says why there is no such type.
  Result<const Type*> find(const std::string& module, std::string_view keyword, const std::string& name);
  const Type* import(dif::TypeRef type);
  // Looks up the definition of an incomplete type by its name. False: there is none.
  bool define(const Type* type);

  void add_members(const Type& record) override;
  // Names of the values of an enumeration.
  std::vector<std::pair<std::string, int64_t>> enumerators(const Type* enumeration) const;

 private:
  using Identity = std::tuple<dif::DescribedAs, std::string, uint64_t, uint64_t, bool>;

  const Type* make(const dif::TypeDesc& desc, dif::TypeRef type);
  const Type* make_integer(const dif::TypeDesc& desc);
  const Type* make_named(const dif::TypeDesc& desc, dif::TypeRef type);
  const Type* make_alias(const dif::TypeDesc& desc);
  const Type* make_array(const dif::TypeDesc& desc);
  const Type* make_bytes(const dif::TypeDesc& desc);
  void add_inner(Type& record, const dif::MemberDesc& member);

  TypeTable& types_;
  TypeCatalog* catalog_;
  std::map<std::tuple<std::string, std::string, std::string>, Result<dif::TypeRef>> found_;
  std::map<dif::TypeRef, const Type*> imported_;
  std::map<Identity, const Type*> known_;
  std::map<const Type*, std::pair<Type*, dif::TypeRef>> records_;
};

}  // namespace dvm::compiler
