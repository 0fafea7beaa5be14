#pragma once
// A bounded cache of objects by a key. An object that its users still hold stays; of the others, those used last stay.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace dvm {

template <class Key, class T>
class Recent {
 public:
  // most: how many objects are kept, unless more are held.
  explicit Recent(size_t most) : most_(most) {}

  // Null: it is not known.
  std::shared_ptr<const T> find(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    found->second.used = ++uses_;
    return found->second.object;
  }

  std::shared_ptr<const T> add(const Key& key, std::shared_ptr<const T> object) {
    entries_[key] = {object, ++uses_};
    while (entries_.size() > most_ && drop_oldest()) {
    }
    return object;
  }

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const T> object;
    uint64_t used = 0;
  };

  // False: all are held.
  bool drop_oldest() {
    auto oldest = entries_.end();
    for (auto one = entries_.begin(); one != entries_.end(); ++one)
      if (one->second.object.use_count() == 1 && (oldest == entries_.end() || one->second.used < oldest->second.used))
        oldest = one;
    if (oldest == entries_.end()) return false;
    entries_.erase(oldest);
    return true;
  }

  size_t most_;
  uint64_t uses_ = 0;
  std::map<Key, Entry> entries_;
};

}  // namespace dvm
