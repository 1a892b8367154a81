#include "gui/panels/waits/wait_blocks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace hostir::gui {

namespace {

class Shaper {
 public:
  Shaper(const WaitGraph& graph, const WaitSizes& sizes) : graph_(graph), sizes_(sizes) {}

  void run(WaitBlock& b) const {
    const bool beside = !sizes_.labels_below;
    b.labels.clear();
    b.arrows.clear();
    b.cards.assign(b.nodes.size(), {});
    if (b.nodes.size() == 1)
      shape_single(b, beside);
    else if (beside && b.nodes.size() == 2)
      shape_pair(b);
    else if (beside)
      shape_ring(b);
    else
      shape_stack(b);
  }

 private:
  std::optional<size_t> link(size_t from, size_t to) const {
    for (size_t i = 0; i < graph_.links.size(); ++i) {
      if (graph_.links[i].from == from && graph_.links[i].to == to) return i;
    }
    return std::nullopt;
  }

  // Labels of a card's arrows, one each, in a column beside or below the card.
  void shape_single(WaitBlock& b, bool beside) const {
    const size_t node = b.nodes.front();
    const ImVec2 card = sizes_.cards[node];
    std::vector<WaitLabel> labels;
    std::vector<const std::string*> texts;
    ImVec2 all(0, 0);
    for (size_t i = 0; i < graph_.links.size(); ++i) {
      const WaitLink& l = graph_.links[i];
      if (l.from != node) continue;
      const auto same = std::find_if(texts.begin(), texts.end(),
                                     [&](const std::string* t) { return *t == l.label; });
      if (same != texts.end()) {
        labels[static_cast<size_t>(same - texts.begin())].links.push_back(i);
        continue;
      }
      texts.push_back(&l.label);
      const ImVec2 size = sizes_.labels[i];
      labels.push_back({{ImVec2(0, all.y), ImVec2(size.x, all.y + size.y)}, {i}});
      all = ImVec2(std::max(all.x, size.x), all.y + size.y + kLabelGap);
    }
    all.y = std::max(0.0f, all.y - kLabelGap);
    ImVec2 shift(0, 0);
    if (labels.empty()) {
      b.size = card;
    } else if (beside) {
      const float lead = sizes_.arrow * 0.3f;
      b.size = ImVec2(card.x + lead + all.x, std::max(card.y, all.y));
      shift = ImVec2(card.x + lead, (b.size.y - all.y) / 2);
    } else {
      shift = ImVec2(kIndent, card.y + kLabelGap);
      b.size = ImVec2(std::max(card.x, all.x + kIndent), shift.y + all.y);
    }
    const float top = beside ? (b.size.y - card.y) / 2 : 0;
    b.cards[0] = {ImVec2(0, top), ImVec2(card.x, top + card.y)};
    for (WaitLabel& l : labels) {
      l.box.move(shift);
      b.labels.push_back(std::move(l));
    }
  }

  void add_label(WaitBlock& b, size_t link, ImVec2 centre) const {
    const ImVec2 size = sizes_.labels[link];
    b.labels.push_back({{ImVec2(centre.x - size.x / 2, centre.y - size.y / 2),
                         ImVec2(centre.x + size.x / 2, centre.y + size.y / 2)},
                        {link}});
  }

  ImVec2 biggest(const WaitBlock& b, const std::vector<size_t>& links, ImVec2& label) const {
    ImVec2 card(0, 0);
    for (const size_t n : b.nodes) {
      card.x = std::max(card.x, sizes_.cards[n].x);
      card.y = std::max(card.y, sizes_.cards[n].y);
    }
    for (const size_t l : links) {
      label.x = std::max(label.x, sizes_.labels[l].x);
      label.y = std::max(label.y, sizes_.labels[l].y);
    }
    return card;
  }

  std::vector<size_t> ring_links(const WaitBlock& b) const {
    std::vector<size_t> out;
    for (size_t i = 0; i < b.nodes.size(); ++i) {
      if (const auto l = link(b.nodes[i], b.nodes[(i + 1) % b.nodes.size()])) out.push_back(*l);
    }
    return out;
  }

  // Two cards side by side: one arrow above, the other back below.
  void shape_pair(WaitBlock& b) const {
    ImVec2 label(0, 0);
    const ImVec2 card = biggest(b, ring_links(b), label);
    const float between = label.x + sizes_.arrow;
    const float height = std::max(card.y, 2 * label.y + 3 * kLabelGap);
    b.size = ImVec2(2 * card.x + between, height);
    const float top = (height - card.y) / 2;
    b.cards[0] = {ImVec2(0, top), ImVec2(card.x, top + card.y)};
    b.cards[1] = {ImVec2(card.x + between, top), ImVec2(b.size.x, top + card.y)};
    for (size_t i = 0; i < 2; ++i) {
      const auto l = link(b.nodes[i], b.nodes[1 - i]);
      if (!l) continue;
      const float y = height / 2 + (i == 0 ? -0.5f : 0.5f) * (label.y + 2 * kLabelGap);
      const float slack = (between - sizes_.labels[*l].x) / 2;
      const float x = card.x + between / 2 + (i == 0 ? -0.3f : 0.3f) * slack;
      add_label(b, *l, ImVec2(x, y));
      const float left = card.x;
      const float right = card.x + between;
      const ImVec2 a(i == 0 ? left : right, std::clamp(y, top + 3, top + card.y - 3));
      const ImVec2 z(i == 0 ? right : left, a.y);
      b.arrows[*l] = a.y == y ? std::vector<ImVec2>{a, z} : std::vector<ImVec2>{a, ImVec2(x, y), z};
    }
  }

  // The grid cells around a rectangle of `columns` columns, clockwise from the upper left corner.
  static std::vector<std::pair<size_t, size_t>> around(size_t columns, size_t count) {
    const size_t rows = 2 + (count > 2 * columns ? (count - 2 * columns + 1) / 2 : 0);
    std::vector<std::pair<size_t, size_t>> out;  // column, row
    for (size_t c = 0; c < columns; ++c) out.emplace_back(c, 0);
    for (size_t r = 1; r + 1 < rows; ++r) out.emplace_back(columns - 1, r);
    for (size_t c = columns; c-- > 0;) out.emplace_back(c, rows - 1);
    for (size_t r = rows - 1; r-- > 1;) out.emplace_back(0, r);
    out.resize(count);
    return out;
  }

  // Around a rectangle, as wide as the panel allows.
  void shape_ring(WaitBlock& b) const {
    const std::vector<size_t> links = ring_links(b);
    ImVec2 label(0, 0);
    const ImVec2 card = biggest(b, links, label);
    const size_t n = b.nodes.size();
    const ImVec2 step(card.x + label.x + sizes_.arrow, card.y + label.y + sizes_.arrow);
    // A label below the first or last card may be wider than the card.
    const float side = std::max(0.0f, (label.x - card.x) / 2);
    size_t columns = (n + 1) / 2;
    while (columns > 2 &&
           step.x * static_cast<float>(columns - 1) + card.x + 2 * side > sizes_.width)
      --columns;
    const auto places = around(columns, n);
    b.size = ImVec2(step.x * static_cast<float>(columns - 1) + card.x + 2 * side, 0);
    for (size_t i = 0; i < n; ++i) {
      const ImVec2 at(side + step.x * static_cast<float>(places[i].first),
                      step.y * static_cast<float>(places[i].second));
      b.cards[i] = {at, ImVec2(at.x + card.x, at.y + card.y)};
      b.size.y = std::max(b.size.y, b.cards[i].max.y);
    }
    for (size_t i = 0; i < n; ++i) {
      const size_t next = (i + 1) % n;
      if (const auto l = link(b.nodes[i], b.nodes[next])) connect(b, *l, b.cards[i], b.cards[next]);
    }
  }

  void connect(WaitBlock& b, size_t link, const WaitBox& from, const WaitBox& to) const {
    const ImVec2 a = from.centre();
    const ImVec2 z = to.centre();
    if (a.y == z.y) {
      const bool right = z.x > a.x;
      b.arrows[link] = {ImVec2(right ? from.max.x : from.min.x, a.y),
                        ImVec2(right ? to.min.x : to.max.x, a.y)};
      return add_label(b, link, ImVec2((a.x + z.x) / 2, a.y));
    }
    const bool down = z.y > a.y;
    const ImVec2 end(z.x, down ? to.min.y : to.max.y);
    const ImVec2 start(a.x, down ? from.max.y : from.min.y);
    if (a.x == z.x) {
      b.arrows[link] = {start, end};
      return add_label(b, link, ImVec2(z.x, (start.y + end.y) / 2));
    }
    // An odd ring: along the row, then up.
    b.arrows[link] = {ImVec2(from.min.x, a.y), ImVec2(z.x, a.y), end};
    add_label(b, link, ImVec2(z.x, (end.y + from.min.y) / 2));
  }

  // For narrow panels: a vertical stack, with the last arrow back along the right side.
  void shape_stack(WaitBlock& b) const {
    const std::vector<size_t> links = ring_links(b);
    ImVec2 label(0, 0);
    const ImVec2 card = biggest(b, links, label);
    const size_t n = b.nodes.size();
    const float step = card.y + label.y + sizes_.arrow * 0.7f;
    const float wide = std::max(card.x, label.x);
    const float back = wide + sizes_.arrow * 0.4f;
    for (size_t i = 0; i < n; ++i) {
      const ImVec2 at((wide - card.x) / 2, step * static_cast<float>(i));
      b.cards[i] = {at, ImVec2(at.x + card.x, at.y + card.y)};
    }
    for (size_t i = 0; i < n; ++i) {
      const auto l = link(b.nodes[i], b.nodes[(i + 1) % n]);
      if (!l) continue;
      const float y = step * static_cast<float>(i) + card.y + (step - card.y) / 2;
      add_label(b, *l, ImVec2(wide / 2, y));
      const ImVec2 start(wide / 2, b.cards[i].max.y);
      if (i + 1 < n)
        b.arrows[*l] = {start, ImVec2(start.x, b.cards[i + 1].min.y)};
      else
        b.arrows[*l] = {start, ImVec2(start.x, y), ImVec2(back, y),
                        ImVec2(back, b.cards[0].centre().y),
                        ImVec2(b.cards[0].max.x, b.cards[0].centre().y)};
    }
    b.size = ImVec2(back + 4, step * static_cast<float>(n));
  }

  static constexpr float kLabelGap = 3;
  static constexpr float kIndent = 6;
  const WaitGraph& graph_;
  const WaitSizes& sizes_;
};

}  // namespace

void shape_block(const WaitGraph& graph, const WaitSizes& sizes, WaitBlock& block) {
  Shaper(graph, sizes).run(block);
}

}  // namespace hostir::gui
