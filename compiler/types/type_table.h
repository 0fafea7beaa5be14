#pragma once
// Makes and owns all types of one compile(): basic types, typedefs, tags, and derived types.

#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "compiler/types/type.h"

namespace dvm::compiler {

class TypeTable {
 public:
  TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  // Typedefs that exist before any script: size_t, uint32_t, pid_t, ...
  static std::span<const std::string_view> standard_names();

  // A basic type or typedef by its name, or null: "unsigned int", "uint32_t", "string".
  const Type* find(std::string_view name) const;
  const Type* basic(std::string_view name) const;  // must exist
  const Type* error() const { return &error_; }

  const Type* pointer_to(const Type* target);
  const Type* array_of(const Type* element, uint64_t count);
  // `parameters` as they are spelled: "int, char *".
  const Type* function(const Type* result, const std::string& parameters);
  const Type* kept_stack(uint64_t frames);                                 // a value that ustack(frames) makes
  const Type* qualified(const Type* type, const std::string& qualifiers);  // "const volatile"; empty: the type itself
  void add_typedef(const std::string& name, const Type* type);
  void make_replaceable(const std::string& name) { customary_.insert(name); }
  // A standard typedef that a script may define differently, because it is not one of D's own.
  bool is_replaceable(std::string_view name) const { return customary_.contains(name); }
  // A standard typedef of illumos, which another one of the traced program replaces.
  bool is_of_illumos(std::string_view name) const { return of_illumos_.contains(name); }
  // Sets sizeof (string), for types that are made later.
  void set_string_size(uint64_t size) { string_->size = size; }

  // "struct s", "union u", "enum e". An incomplete type is made if there is none.
  Type* tag(std::string_view keyword, const std::string& name);
  Type* find_tag(std::string_view keyword, const std::string& name);
  // Makes a new type, which replaces the one of that name.
  Type* replace_tag(std::string_view keyword, const std::string& name);

  // For "did you mean".
  void add_names(std::vector<std::string_view>& to) const;
  std::vector<std::string_view> complete_tags() const;

  // The type of an integer constant, by C's rules.
  const Type* of_constant(uint64_t value, bool decimal, bool is_unsigned, bool is_long) const;
  // The type after C's promotion of enumerations and _Bool, mostly to int.
  const Type* promote(const Type* type) const;
  // The type of an operator's result: the longer type. If both are equally long and one is unsigned, the result is unsigned.
  const Type* common(const Type* a, const Type* b) const;

  // Makes a type that cannot be looked up by name.
  Type& make(Type type);
  const Type* make_alias(std::string name, const Type* type);

 private:
  void add_basic(std::string_view name, TypeClass cls, unsigned size, bool is_signed);

  std::deque<Type> types_;
  std::map<std::string, const Type*, std::less<>> names_;
  std::map<std::string, Type*, std::less<>> tags_;
  std::map<const Type*, const Type*> pointers_;
  std::map<std::pair<const Type*, uint64_t>, const Type*> arrays_;
  std::set<std::string, std::less<>> customary_, of_illumos_;
  std::map<std::string, const Type*, std::less<>> functions_;  // by name
  std::map<std::pair<const Type*, std::string>, const Type*> qualified_;
  std::map<uint64_t, const Type*> stacks_;  // by frames
  Type* string_ = nullptr;
  Type error_;
  unsigned anonymous_ = 0;
};

}  // namespace dvm::compiler
