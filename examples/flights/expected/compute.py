#!/usr/bin/env python3
"""What the pipelines beside this folder should give, computed from the same files by loops over lists. Run once, by hand."""
import bisect, collections, csv, datetime, glob, gzip, json, pathlib

here = pathlib.Path(__file__).resolve().parent


def rows(path):
    with gzip.open(path, "rt") as file:
        return [{k: None if v in ("NA", "") else v for k, v in row.items()} for row in csv.DictReader(file)]


def number(text):
    return None if text is None else int(text)


def write(name, out):
    lines = sorted(json.dumps(row) for row in out)
    (here / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
    print(name, len(lines))


flights = rows(here / "../../flight_delays/data/flights-2013-01.csv.gz")
weather = collections.defaultdict(list)
for path in glob.glob(str(here / "../data/weather-*.csv.gz")):
    for row in rows(path):
        weather[row["origin"]].append((row["time_hour"], row))
for observations in weather.values():
    observations.sort(key=lambda pair: pair[0])

# Delays: of each flight the last observation of its airport that is not later than its hour.
groups = collections.defaultdict(list)
for flight in flights:
    if flight["dep_delay"] is None:
        continue
    observations = weather[flight["origin"]]
    at = bisect.bisect_right([time for time, _ in observations], flight["time_hour"])
    sky = observations[at - 1][1] if at else {"precip": None, "visib": None}
    groups[flight["carrier"], flight["time_hour"][:10]].append((int(flight["dep_delay"]), sky))
out = []
for (carrier, day), members in groups.items():
    rain = [delay for delay, sky in members if sky["precip"] is not None and float(sky["precip"]) > 0]
    fog = [delay for delay, sky in members if sky["visib"] is not None and float(sky["visib"]) < 2]
    out.append({
        "carrier": carrier, "day": day + "T00:00:00Z", "flights": len(members),
        "mean": sum(delay for delay, _ in members) / len(members), "in_rain": len(rain),
        "mean_in_rain": sum(rain) / len(rain) if rain else None, "worst_in_fog": max(fog) if fog else None,
    })
write("weather_delays", out)

# Missed connections: every pair of a late arrival and a late departure of the same plane, 2 to 12 hours apart.
def when(flight):
    return datetime.datetime.fromisoformat(flight["time_hour"].replace("Z", "+00:00"))

planes = collections.defaultdict(list)
for flight in flights:
    if flight["tailnum"] is not None:
        planes[flight["tailnum"]].append(flight)
out = []
for plane, legs in planes.items():
    for first in legs:
        for then in legs:
            apart = (when(then) - when(first)).total_seconds() / 3600
            if (number(first["arr_delay"]) or 0) > 60 and (number(then["dep_delay"]) or 0) > 60 and 2 <= apart <= 12:
                out.append({
                    "plane": plane, "flight": int(first["flight"]), "arrived_late": int(first["arr_delay"]),
                    "next": int(then["flight"]), "left_late": int(then["dep_delay"]), "at": then["time_hour"],
                })
write("missed_connections", out)

# Route ranking: weeks from Monday, as clocks in New York have it.
import zoneinfo

new_york = zoneinfo.ZoneInfo("America/New_York")


def utc(day):
    moment = datetime.datetime.combine(day, datetime.time(), new_york).astimezone(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


weeks = collections.defaultdict(list)
for flight in flights:
    day = when(flight).astimezone(new_york).date()
    monday = day - datetime.timedelta(days=day.weekday())
    weeks[monday, flight["origin"], flight["dest"]].append(number(flight["dep_delay"]))
airports = collections.defaultdict(list)
for (monday, origin, dest), delays in weeks.items():
    airports[monday, origin].append((-len(delays), dest, sum(1 for delay in delays if delay is not None and delay > 15)))
out = []
for (monday, origin), routes in airports.items():
    for place, (count, dest, late) in enumerate(sorted(routes)[:10], 1):
        out.append({
            "origin": origin, "dest": dest, "week": utc(monday), "until": utc(monday + datetime.timedelta(days=7)),
            "flights": -count, "late": late, "place": place,
        })
write("route_ranking", out)
