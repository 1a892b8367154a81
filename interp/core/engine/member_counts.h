// The number of elements that each member of a group sends or receives.
//
// Every member of a large group states the same list. A table that only grows keeps one copy, with
// the offset of each member's block, so that members do not each add up the list. A MemberCounts is
// a view of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace hostir::interp {

class MemberCounts {
 public:
  MemberCounts() = default;
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  int64_t operator[](size_t member) const { return counts_[member]; }
  const int64_t* begin() const { return counts_; }
  const int64_t* end() const { return counts_ + size_; }
  /// Elements of the members before this one.
  int64_t offset(size_t member) const { return counts_[size_ + member]; }
  int64_t total() const { return size_ == 0 ? 0 : offset(size_); }
  std::vector<int64_t> list() const { return {begin(), end()}; }

 private:
  friend class MemberCountsTable;
  MemberCounts(const int64_t* counts, size_t size) : counts_(counts), size_(size) {}
  const int64_t* counts_ = nullptr;  // followed by size_ + 1 offsets
  size_t size_ = 0;
};

class MemberCountsTable {
 public:
  /// Stores the list; equal lists share one copy. Valid as long as the table.
  MemberCounts keep(std::vector<int64_t> counts) {
    if (counts.empty()) return {};
    const size_t n = counts.size();
    uint64_t hash = n;
    for (const int64_t count : counts) {
      hash = (hash ^ static_cast<uint64_t>(count)) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
    const auto [begin, end] = index_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      if (std::equal(counts.begin(), counts.end(), at->second.begin(), at->second.end())) {
        return at->second;
      }
    }
    counts.resize(2 * n + 1, 0);
    std::partial_sum(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n),
                     counts.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    const MemberCounts kept(lists_.emplace_back(std::move(counts)).data(), n);
    index_.emplace(hash, kept);
    return kept;
  }
  /// The number of different lists.
  size_t size() const { return lists_.size(); }

 private:
  std::deque<std::vector<int64_t>> lists_;
  std::unordered_multimap<uint64_t, MemberCounts> index_;
};

}  // namespace hostir::interp
