// Writes go.txt: run `go run generate.go > go.txt` in this folder; go.txt was written by Go 1.19 with Debian's zones.
// The notation is that of generate.lua.
package main

import (
	"fmt"
	"strings"
	"time"
)

func encode(s string) string {
	var b strings.Builder
	b.WriteByte('s')
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '\\' || c < ' ' || c > '~' {
			fmt.Fprintf(&b, "\\x%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Sydney", "America/Sao_Paulo"}

var layouts = []string{
	time.Layout, time.ANSIC, time.UnixDate, time.RubyDate, time.RFC822, time.RFC822Z, time.RFC850, time.RFC1123, time.RFC1123Z,
	time.RFC3339, time.RFC3339Nano, time.Kitchen, time.Stamp, time.StampMilli, time.StampMicro, time.StampNano,
	"2006-01-02", "2006-1-2", "06/1/_2", "2006 002", "2006 __2", "_2006", "__2006", "15:04:05.000", "15:04:05,000", "15:04:05.999999", "15:04:05,9", "15:04:05.0000000000000",
	".000", ",999", "5.00x", "15h4m5s", "3:04:05 pm", "03PM", "Monday January", "Mondays", "Month", "Janet", "Jan.", "Mon,", "Z0700", "Z070000", "Z07", "Z07:00:00", "-070000", "-07", "-07:00:00", "-07:00", "-0700",
	"MST", "2006-01-02 15:04:05 -0700 MST", "plain text", "", "\\'%d\x00\xff", "200", "00", "0", "1", "21", "012", "20060102150405", "2006-01-02T15:04:05.000Z", "Mon Monday Jan January 1 01 2 _2 02 15 3 03 4 04 5 05 06 2006 PM pm", "1504", "002 01",
}

func main() {
	instants := [][2]int64{{0, 0}, {1, 500000000}, {-1, 999999999}, {1709210096, 123456789}, {1709210096, 120000000}, {1720000000, 0}, {1729990800, 1}, {1730000000, 10}, {951825600, 0}, {-2208988800, 0}, {253402300799, 999000000}, {1735689599, 100000}, {-62135596800, 0}, {4102444800, 0}}
	for _, name := range zones {
		loc, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		for _, at := range instants {
			for _, layout := range layouts {
				out := time.Unix(at[0], at[1]).In(loc).Format(layout)
				fmt.Printf("format\ti%d\ti%d\t%s\t%s\t=>\t%s\n", at[0], at[1], encode(layout), encode(name), encode(out))
				if name != "UTC" && at[0] < 0 {
					continue // zones of long ago differ between versions of the database
				}
				parse(out, layout, name, loc)
			}
			if name != "UTC" {
				break
			}
		}
	}
	for _, name := range zones[1:] {
		loc, _ := time.LoadLocation(name)
		for _, at := range instants[3:8] {
			for _, layout := range layouts {
				out := time.Unix(at[0], at[1]).In(loc).Format(layout)
				fmt.Printf("format\ti%d\ti%d\t%s\t%s\t=>\t%s\n", at[0], at[1], encode(layout), encode(name), encode(out))
				parse(out, layout, name, loc)
			}
		}
	}
	values := [][2]string{
		{"2024-02-29T12:00:00Z", time.RFC3339}, {"2023-02-29T12:00:00Z", time.RFC3339}, {"2024-02-29T12:00:00.123456789123Z", time.RFC3339}, {"2024-02-29T12:00:00,5+05:30", time.RFC3339}, {"2024-02-29T12:00:00", time.RFC3339}, {"2024-02-29T12:00:00z", time.RFC3339},
		{"2024-13-01T12:00:00Z", time.RFC3339}, {"2024-00-01T12:00:00Z", time.RFC3339}, {"2024-01-00T12:00:00Z", time.RFC3339}, {"2024-01-32T12:00:00Z", time.RFC3339}, {"2024-01-01T24:00:00Z", time.RFC3339}, {"2024-01-01T23:60:00Z", time.RFC3339}, {"2024-01-01T23:59:60Z", time.RFC3339},
		{"2024-01-01T23:59:59Zx", time.RFC3339}, {"2024-01-01T23:59:59+0530", time.RFC3339}, {"2024-01-01T23:59:59-05:00", time.RFC3339}, {"024-01-01T23:59:59Z", time.RFC3339}, {" 2024-01-01T23:59:59Z", time.RFC3339}, {"2024-01-01T3:59:59Z", time.RFC3339}, {"2024-01-01T23:9:59Z", time.RFC3339},
		{"Thu, 29 Feb 2024 12:34:56 GMT", time.RFC1123}, {"Thu, 29 Feb 2024 12:34:56 CET", time.RFC1123}, {"Thu, 29 Feb 2024 12:34:56 EST", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 GMT+3", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 +03", time.RFC1123}, {"mon, 29 fEB 2024 12:34:56 UTC", time.RFC1123},
		{"Mon, 29 Feb 2024 12:34:56 ABCDEF", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 ABCDE", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 ABCDT", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 WITA", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 ChST", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 AB", time.RFC1123}, {"Mon, 29 Feb 2024 12:34:56 ", time.RFC1123}, {"Mon,29 Feb 2024 12:34:56 GMT", time.RFC1123}, {"Mon,   29 Feb 2024 12:34:56 GMT", time.RFC1123},
		{"Xyz, 29 Feb 2024 12:34:56 GMT", time.RFC1123}, {"Mon, 29 Xyz 2024 12:34:56 GMT", time.RFC1123}, {"Mon, 9 Feb 2024 12:34:56 GMT", time.RFC1123}, {"12:30AM", time.Kitchen}, {"12:30PM", time.Kitchen}, {"1:05pm", time.Kitchen}, {"13:05PM", time.Kitchen}, {"0:05AM", time.Kitchen}, {"1:05", time.Kitchen},
		{"68", "06"}, {"69", "06"}, {"7", "06"}, {"2024 060", "2006 002"}, {"2024 366", "2006 002"}, {"2023 366", "2006 002"}, {"2024 000", "2006 002"}, {"2024  60", "2006 __2"}, {"2024   6", "2006 __2"}, {"2024 060 02", "2006 002 01"}, {"2024 060 03", "2006 002 01"}, {"2024 060 29", "2006 002 02"}, {"2024 060 28", "2006 002 02"}, {"2024 60", "2006 002"},
		{"Feb  5", time.Stamp[:6]}, {"Feb 5", time.Stamp[:6]}, {"Feb 15", time.Stamp[:6]}, {"Feb 30", time.Stamp[:6]}, {"January 5", "January 2"}, {"Jan 5", "January 2"}, {"12:30:45.5", "15:04:05"}, {"12:30:45.", "15:04:05"}, {"12:30:45.12", "15:04:05.000"}, {"12:30:45.1234", "15:04:05.000"}, {"12:30:45", "15:04:05.000"}, {"12:30:45", "15:04:05.999"}, {"12:30:45.1234", "15:04:05.999"}, {"12:30:45.1234567899", "15:04:05.0000000000"},
		{"+05:30", "Z07:00"}, {"Z", "Z07:00"}, {"Z", "-07:00"}, {"+0530", "-0700"}, {"-01", "-07"}, {"+01:02:03", "-07:00:00"}, {"-010203", "-070000"}, {"x0530", "-0700"}, {"+05 30", "-0700"}, {"+05", "-0700"}, {"", ""}, {"a", ""}, {"", "a"}, {"", "2006"}, {"a  b", "a b"}, {"a b", "a  b"}, {"ab", "a b"}, {"a", "a "}, {"a ", "a"},
		{"2024-03-31 02:30", "2006-01-02 15:04"}, {"2024-06-01 12:00 EST", "2006-01-02 15:04 MST"}, {"2024-06-01 12:00 EDT", "2006-01-02 15:04 MST"}, {"2024-01-01 12:00 AEDT", "2006-01-02 15:04 MST"}, {"2024-01-01 12:00 CEST", "2006-01-02 15:04 MST"}, {"2024-01-01 12:00 IST", "2006-01-02 15:04 MST"}, {"2024-01-01 12:00 -03", "2006-01-02 15:04 MST"},
	}
	for _, v := range values {
		for _, name := range zones {
			loc, _ := time.LoadLocation(name)
			if name == "UTC" || strings.Contains(v[1], "2006") {
				parse(v[0], v[1], name, loc)
			}
		}
	}
}

func parse(value, layout, name string, loc *time.Location) {
	if value == "Z" && (layout == "Z070000" || layout == "Z07:00:00") {
		return // Go 1.19 does not read back what it writes
	}
	t, err := time.ParseInLocation(layout, value, loc)
	fmt.Printf("parse\t%s\t%s\t%s\t=>\t", encode(value), encode(layout), encode(name))
	if err != nil {
		fmt.Printf("n\n")
	} else if t.Year() < 1900 && name != "UTC" {
		fmt.Printf("T\n") // long ago, see above
	} else {
		fmt.Printf("i%d\ti%d\n", t.Unix(), t.Nanosecond())
	}
}
