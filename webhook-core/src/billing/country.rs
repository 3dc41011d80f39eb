//! The countries of ISO 3166-1.

/// The officially assigned two-letter codes, in order
/// (<https://www.iso.org/obp/ui/#search/code/>).
const COUNTRIES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR \
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ \
    EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW \
    GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY \
    KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV \
    MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY \
    QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG \
    TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM \
    ZW";

/// Whether this is a country's two letters, in capitals.
///
/// ```
/// use webhook_core::billing::is_country;
///
/// assert!(is_country("LT"));
/// assert!(!is_country("UK") && !is_country("lt"));
/// ```
#[must_use]
pub fn is_country(text: &str) -> bool {
    COUNTRIES.split_ascii_whitespace().any(|code| code == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_249_in_order() {
        let codes: Vec<_> = COUNTRIES.split_ascii_whitespace().collect();
        assert_eq!(codes.len(), 249);
        assert!(codes.is_sorted_by(|a, b| a < b));
        assert!(codes.iter().all(|code| code.len() == 2));
        for no_country in ["", "XX", "ZZ", "UK", "EU", "AD AE", "A"] {
            assert!(!is_country(no_country), "{no_country:?}");
        }
    }
}
