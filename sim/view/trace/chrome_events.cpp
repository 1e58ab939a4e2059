#include "sim/view/trace/chrome_events.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace systole::trace {
namespace {

// NOLINTNEXTLINE(modernize-use-using): __extension__ works only with typedef.
__extension__ typedef unsigned __int128 WideTime;

constexpr std::uint64_t nanosecond = 1'000'000'000;

}  // namespace

std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ChromeEvents::ChromeEvents(OutputFile& file, std::uint64_t clock_hz)
    : clock_hz_(clock_hz), shared_(std::make_shared<Shared>(file)) {
    shared_->text << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock_hz\":" << clock_hz
                  << "},\"traceEvents\":[";
}

ChromeEvents ChromeEvents::of_process(unsigned number) const {
    ChromeEvents other = *this;
    other.process_ = number;
    return other;
}

TextBuffer& ChromeEvents::open(char phase) {
    shared_->text << (shared_->is_first ? "\n" : ",\n") << "{\"ph\":\"" << phase << "\",\"pid\":" << process_;
    shared_->is_first = false;
    return shared_->text;
}

void ChromeEvents::close() {
    shared_->text << '}';
    shared_->text.end_line();
}

void ChromeEvents::name_process(std::string_view name) {
    open('M') << ",\"name\":\"process_name\",\"args\":{\"name\":" << json_text(name) << '}';
    close();
}

void ChromeEvents::name_track(Track track, std::string_view name) {
    const auto number = static_cast<unsigned>(track);
    open('M') << ",\"tid\":" << number << ",\"name\":\"thread_name\",\"args\":{\"name\":" << json_text(name)
              << '}';
    close();
    open('M') << ",\"tid\":" << number
              << ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" << number << '}';
    close();
}

TextBuffer& ChromeEvents::begin_slice(Track track, Cycle begin, Cycle end, std::string_view name,
                                      std::string_view color) {
    open('X') << ",\"tid\":" << static_cast<unsigned>(track) << ",\"ts\":";
    // The difference of two rounded times, so that slices that touch in cycles also touch in nanoseconds.
    stamp(begin) << ",\"dur\":";
    microseconds(nanoseconds(end) - nanoseconds(begin)) << ",\"name\":\"" << name << '"';
    if (!color.empty()) shared_->text << ",\"cname\":\"" << color << '"';
    return shared_->text << ",\"args\":{\"cycle\":" << begin << ",\"cycles\":" << end - begin;
}

void ChromeEvents::end_slice() {
    shared_->text << '}';
    close();
}

void ChromeEvents::flow(char phase, std::uint64_t id, Track track, Cycle at) {
    open(phase) << ",\"tid\":" << static_cast<unsigned>(track) << ",\"ts\":";
    stamp(at) << ",\"id\":" << id << ",\"name\":\"tile\",\"cat\":\"weights\"";
    if (phase == 'f')
        shared_->text
            << ",\"bp\":\"e\"";  // the arrow ends at the slice around this time, not at the next slice
    close();
}

void ChromeEvents::finish() {
    shared_->text << "\n]}\n";
    shared_->text.flush();
}

std::uint64_t ChromeEvents::nanoseconds(Cycle cycle) const {
    constexpr Cycle most_in_64_bits = std::numeric_limits<std::uint64_t>::max() / nanosecond;
    if (cycle <= most_in_64_bits) return cycle * nanosecond / clock_hz_;  // faster
    return static_cast<std::uint64_t>(WideTime{cycle} * nanosecond / clock_hz_);
}

/// Adds half a nanosecond. Readers multiply by 1000 and cut off the fraction, so a decimal number slightly
/// below its nanosecond would become the nanosecond before.
TextBuffer& ChromeEvents::stamp(Cycle cycle) {
    return microseconds(nanoseconds(cycle)) << '5';
}

TextBuffer& ChromeEvents::microseconds(std::uint64_t nanoseconds) {
    constexpr std::uint64_t thousand = 1000;
    const auto rest = static_cast<unsigned>(nanoseconds % thousand);
    shared_->text << nanoseconds / thousand << '.';
    return shared_->text << static_cast<char>('0' + rest / 100) << static_cast<char>('0' + rest / 10 % 10)
                         << static_cast<char>('0' + rest % 10);
}

void CounterTrack::add(Cycle at, std::int64_t amount, std::optional<hw::Tag> tag) {
    if (at >= window_.from()) finish();
    value_ += amount;
    if ((tag && !window_.takes(*tag)) || at >= window_.to()) return;
    if (at < window_.from()) {
        before_ = {at, value_};
    } else {
        write({at, value_});
    }
}

void CounterTrack::finish() {
    if (before_) write(*before_);
    before_.reset();
}

}  // namespace systole::trace
