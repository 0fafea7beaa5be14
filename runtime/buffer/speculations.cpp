// Tested by tests/unit/runtime/speculations_test.cpp.

#include "runtime/buffer/speculations.h"

#include <algorithm>

namespace dvm::runtime {

bool Speculations::make_share(CpuShare& share) {
  share.used.assign(states_.size(), 0);
  share.memory = allocate_buffer(states_.size() * bytes_);
  if (share.memory != nullptr) made_++;
  return share.memory != nullptr;
}

bool Speculations::allocate(uint32_t count, size_t bytes, unsigned cpus) {
  bytes_ = bytes - bytes % 8;
  states_.assign(count, {});
  shares_.clear();
  made_ = 0;
  if (count != 0 && bytes_ > memory_for_each(cpus) / count) return false;
  shares_.resize(cpus);
  return std::all_of(shares_.begin(), shares_.end(), [this](CpuShare& share) { return make_share(share); });
}

void Speculations::meet(int32_t cpu) {
  if (has_share(cpu) || states_.size() * bytes_ > memory_for_each(1) / (made_ + 1)) return;
  if (shares_.size() <= static_cast<size_t>(cpu)) shares_.resize(static_cast<size_t>(cpu) + 1);
  make_share(shares_[static_cast<size_t>(cpu)]);
}

uint32_t Speculations::open() noexcept {
  bool is_any_busy = false;
  for (size_t i = 0; i < states_.size(); i++) {
    if (states_[i].phase == Phase::inactive) {
      states_[i].phase = Phase::active;
      return static_cast<uint32_t>(i + 1);
    }
    is_any_busy |= is_busy(states_[i]);
  }
  (is_any_busy ? failed_busy_ : failed_unavailable_)++;
  return 0;
}

bool Speculations::enter(uint64_t id, int32_t cpu) noexcept {
  if (id == 0) return false;
  Speculation& state = states_[id - 1];
  if (state.phase == Phase::inactive || is_busy(state)) return false;
  cpu = share_of(cpu);
  if (state.phase == Phase::active)
    state = {Phase::one, cpu};
  else if (!is_only_on(state, cpu))
    state.phase = Phase::many;
  return true;
}

void Speculations::add(uint64_t id, int32_t cpu, std::span<const std::byte> record) noexcept {
  cpu = share_of(cpu);
  size_t& at = used(id - 1, cpu);
  if (record.size() > bytes_ - at) {
    drops_++;
    return;
  }
  std::copy(record.begin(), record.end(), memory(id - 1, cpu) + at);
  at += record.size();
}

// All or, without room for all, nothing and a drop.
void Speculations::move_to_principal(size_t index, int32_t cpu, PrincipalBuffer& to, RecordOrder& order) noexcept {
  const size_t bytes = used(index, cpu);
  used(index, cpu) = 0;
  std::byte* room = bytes != 0 ? to.reserve(bytes) : nullptr;
  if (!room) return;
  std::copy_n(memory(index, cpu), bytes, room);
  for (size_t at = 0; at < bytes;) {
    RecordHeader header = header_of(room + at);
    header.order = order.next();
    std::memcpy(room + at, &header, sizeof(header));
    at += header.size;
  }
  to.commit(bytes);
}

void Speculations::end(Speculation& state, Phase unfinished, bool is_finished) noexcept {
  state.phase = is_finished ? Phase::inactive : unfinished;
  busy_ += !is_finished;
}

void Speculations::commit(uint64_t id, int32_t cpu, CpuBuffers& to, RecordOrder& order) noexcept {
  if (id == 0) return;
  Speculation& state = states_[id - 1];
  if (state.phase == Phase::inactive || is_busy(state)) return;
  move_to_principal(id - 1, share_of(cpu), to[cpu].principal, order);
  end(state, Phase::committing, is_only_on(state, share_of(cpu)));
}

void Speculations::discard(uint64_t id, int32_t cpu) noexcept {
  if (id == 0) return;
  Speculation& state = states_[id - 1];
  if (state.phase == Phase::inactive || is_busy(state)) return;
  used(id - 1, share_of(cpu)) = 0;
  end(state, Phase::discarding, is_only_on(state, share_of(cpu)));
}

void Speculations::clean(CpuBuffers& to, RecordOrder& order) noexcept {
  for (size_t i = 0; busy_ != 0 && i < states_.size(); i++) {
    if (!is_busy(states_[i])) continue;
    for (size_t cpu = 0; cpu < shares_.size(); cpu++) {
      const auto number = static_cast<int32_t>(cpu);
      if (!has_share(number)) continue;
      if (states_[i].phase == Phase::committing) move_to_principal(i, number, to[number].principal, order);
      used(i, number) = 0;
    }
    states_[i].phase = Phase::inactive;
    busy_--;
  }
}

}  // namespace dvm::runtime
