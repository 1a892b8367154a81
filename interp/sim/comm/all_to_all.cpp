#include "interp/sim/exchange.h"

namespace hostir::sim {

namespace {

// Elements that `from` sends to `to`; equal blocks if there are no counts.
int64_t count(const Exchange& exchange, size_t from, size_t to) {
  const interp::MemberCounts& counts = exchange.member(from).send_counts;
  if (to < counts.size()) return counts[to];
  const auto ranks = static_cast<int64_t>(exchange.size());
  return exchange.in(from).size_bytes / exchange.element_bytes() / ranks;
}

}  // namespace

// Block j of member i becomes block i of member j.
void sim_all_to_all(Exchange& exchange);
void sim_all_to_all(Exchange& exchange) {
  std::vector<int64_t> sent(exchange.size(), 0);
  for (size_t to = 0; to < exchange.size(); ++to) {
    std::vector<Piece> received;
    for (size_t from = 0; from < exchange.size(); ++from) {
      const int64_t bytes = count(exchange, from, to) * exchange.element_bytes();
      received.push_back(exchange.in(from).part(sent[from], bytes));
      sent[from] += bytes;
    }
    exchange.give(to, joined(received));
  }
}

}  // namespace hostir::sim
