// Membership in short lists.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace hostir {

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

/// Appends the value if the list does not contain it.
template <class T, class Value>
void add_once(std::vector<T>& list, Value&& value) {
  if (!contains(list, value)) list.push_back(std::forward<Value>(value));
}

/// Inserts the value into a sorted list if the list does not contain it.
template <class T>
void insert_once(std::vector<T>& sorted, const T& value) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

}  // namespace hostir
