//! Schedules in words, as far as they are common ones.

/// What the schedule says; none where that takes more than a few words.
pub(super) fn of(schedule: &str) -> Option<String> {
    let schedule = schedule.trim();
    if let Some(period) = schedule.strip_prefix("@every") {
        return Some(format!("every {}", period.trim()));
    }
    let fields = match schedule {
        "@yearly" | "@annually" => return Some("on 1 January at 00:00".to_owned()),
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        fields => fields,
    };
    let mut fields = fields.split_whitespace();
    let five: [&str; 5] = std::array::from_fn(|_| fields.next().unwrap_or_default());
    if fields.next().is_some() {
        return None;
    }
    match five {
        ["*", "*", "*", "*", "*"] => Some("every minute".to_owned()),
        [minutes, "*", "*", "*", "*"] if minutes.starts_with("*/") => {
            Some(format!("every {} minutes of the hour", step(minutes)?))
        }
        [minute, "*", "*", "*", "*"] => {
            Some(format!("every hour, {} minutes after", number(minute, 59)?))
        }
        [minute, hours, "*", "*", "*"] if hours.starts_with("*/") => {
            let (hours, minute) = (step(hours)?, number(minute, 59)?);
            Some(format!("every {hours} hours of the day, {minute} minutes after"))
        }
        [minute, hour, "*", "*", "*"] => Some(format!("every day at {}", clock(hour, minute)?)),
        [minute, hour, "*", "*", days] => {
            Some(format!("{} at {}", weekdays(days)?, clock(hour, minute)?))
        }
        [minute, hour, day, "*", "*"] => {
            let (day, clock) = (number(day, 31)?, clock(hour, minute)?);
            Some(format!("on day {day} of every month at {clock}"))
        }
        _ => None,
    }
}

fn number(field: &str, most: u8) -> Option<u8> {
    let is_number = field.bytes().all(|byte| byte.is_ascii_digit());
    field.parse().ok().filter(|number| is_number && *number <= most)
}

fn step(field: &str) -> Option<u8> {
    number(field.strip_prefix("*/")?, 59).filter(|step| *step > 1)
}

fn clock(hour: &str, minute: &str) -> Option<String> {
    Some(format!("{:02}:{:02}", number(hour, 23)?, number(minute, 59)?))
}

fn weekdays(field: &str) -> Option<String> {
    const DAYS: [(&str, &str); 8] = [
        ("SUN", "Sundays"),
        ("MON", "Mondays"),
        ("TUE", "Tuesdays"),
        ("WED", "Wednesdays"),
        ("THU", "Thursdays"),
        ("FRI", "Fridays"),
        ("SAT", "Saturdays"),
        ("SUN", "Sundays"),
    ];
    if ["1-5", "MON-FRI"].contains(&field.to_ascii_uppercase().as_str()) {
        return Some("Mondays to Fridays".to_owned());
    }
    let name = |day: &str| {
        let by_name = DAYS.iter().find(|(short, _)| short.eq_ignore_ascii_case(day));
        let found = by_name.or_else(|| DAYS.get(usize::from(number(day, 7)?)));
        found.map(|(_, name)| *name)
    };
    let days: Option<Vec<_>> = field.split(',').map(name).collect();
    Some(days?.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_schedules_have_words_and_others_have_none() {
        for (schedule, words) in [
            ("* * * * *", "every minute"),
            ("*/15 * * * *", "every 15 minutes of the hour"),
            ("5 * * * *", "every hour, 5 minutes after"),
            ("0 */6 * * *", "every 6 hours of the day, 0 minutes after"),
            ("30 2 * * *", "every day at 02:30"),
            ("0 9 * * 1-5", "Mondays to Fridays at 09:00"),
            ("0 9 * * mon,4", "Mondays, Thursdays at 09:00"),
            ("0 0 1 * *", "on day 1 of every month at 00:00"),
            ("@daily", "every day at 00:00"),
            ("@every 1h30m", "every 1h30m"),
        ] {
            assert_eq!(of(schedule).as_deref(), Some(words), "{schedule}");
        }
        for schedule in
            ["", "0 0 1 1 *", "0 0 1 * 5", "1-5 * * * *", "+5 1 * * *", "1 2 3", "0 9 * * 8"]
        {
            assert_eq!(of(schedule), None, "{schedule}");
        }
    }
}
