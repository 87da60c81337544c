//! What visitors do: five behaviours, and a trait for more.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{
    Request,
    chance::{Chance, Zipf, mix},
};

/// One behaviour: what it sends in a given second.
pub trait Scenario: fmt::Debug {
    /// Appends the requests of `second` (Unix time), in any order. Called once per second, in order.
    fn send(&mut self, second: u64, chance: &mut Chance, out: &mut Vec<Request>);
}

/// Many clients, few of them busy: Zipf's law over clients and over products.
///
/// The rate swings by 30 % from second to second, around a mean that wanders by 20 % in ten minutes.
#[derive(Clone, Debug)]
pub struct Background {
    clients: Zipf,
    products: Zipf,
    per_second: u64,
}

impl Background {
    /// `clients` visitors, [`visitor_address`] `0..clients`, sending `per_second` requests on average.
    ///
    /// # Panics
    /// If there are no clients.
    #[must_use]
    pub fn new(clients: u64, per_second: u64) -> Self {
        Self { clients: Zipf::new(clients), products: Zipf::new(600), per_second }
    }

    fn count(&self, second: u64, chance: &mut Chance) -> u64 {
        let wander = 80 + (second % 600).abs_diff(300) * 40 / 300;
        let swing = 70 + chance.below(61);
        (self.per_second * wander * swing + chance.below(10_000)) / 10_000
    }
}

impl Scenario for Background {
    fn send(&mut self, second: u64, chance: &mut Chance, out: &mut Vec<Request>) {
        for _ in 0..self.count(second, chance) {
            let visitor = self.clients.draw(chance);
            let product = self.products.draw(chance);
            out.push(browse(visitor, product, second, chance));
        }
    }
}

/// A sale opens: one path is hit by many shoppers at once, and a few eager ones hammer it.
#[derive(Clone, Debug)]
pub struct FlashSale {
    /// The first second of the sale.
    pub at: u64,
    /// How long the rush lasts.
    pub seconds: u64,
    /// What everybody asks for.
    pub path: &'static str,
    /// How many of the background's visitors come, each as likely as the next.
    pub shoppers: u64,
    /// What these shoppers send together.
    pub per_second: u64,
    /// Those who do not wait.
    pub eager: Vec<Eager>,
}

/// A shopper with a script.
#[derive(Clone, Copy, Debug)]
pub struct Eager {
    /// Its address.
    pub client: IpAddr,
    /// What it sends, for as long as the rush lasts.
    pub per_second: u64,
}

impl Scenario for FlashSale {
    fn send(&mut self, second: u64, chance: &mut Chance, out: &mut Vec<Request>) {
        if !lasts(self.at, self.seconds, second) {
            return;
        }
        let page = |client, agent, chance: &mut Chance| {
            let status = chance.pick(&[200, 200, 200, 200, 200, 503]);
            Request {
                status,
                bytes: if status == 200 { 8_000 + chance.below(600) } else { 312 },
                referer: Some("https://shop.example.com/sale"),
                ..get(second, client, self.path.to_owned(), agent)
            }
        };
        for _ in 0..self.per_second {
            let visitor = chance.below(self.shoppers);
            out.push(page(visitor_address(visitor), browser_of(visitor), chance));
        }
        for eager in &self.eager {
            out.extend((0..eager.per_second).map(|_| page(eager.client, AGENTS[0], chance)));
        }
    }
}

/// One client that walks the catalogue at a steady rate.
#[derive(Clone, Copy, Debug)]
pub struct Crawler {
    /// Its address.
    pub client: IpAddr,
    /// Its first second.
    pub at: u64,
    /// How long it walks.
    pub seconds: u64,
    /// Its rate.
    pub per_second: u64,
}

impl Scenario for Crawler {
    fn send(&mut self, second: u64, chance: &mut Chance, out: &mut Vec<Request>) {
        if !lasts(self.at, self.seconds, second) {
            return;
        }
        let walked = (second - self.at) * self.per_second;
        out.extend((walked..walked + self.per_second).map(|product| Request {
            bytes: 4_000 + chance.below(9_000),
            ..get(
                second,
                self.client,
                product_path(product),
                "Mozilla/5.0 (compatible; ThimbleBot/2.3; +https://bot.example.net/about)",
            )
        }));
    }
}

/// One client that sends exactly `units` in **every** window of `window_seconds`, never one more.
///
/// The second-by-second counts repeat with the window's period (20, 20, 20, 20, 19 for 99 in 5 s), so every
/// run of `window_seconds` whole seconds has the same sum, wherever it starts.
#[derive(Clone, Copy, Debug)]
pub struct Drip {
    /// Its address.
    pub client: IpAddr,
    /// Its first second.
    pub at: u64,
    /// How long it drips.
    pub seconds: u64,
    /// What it sends in any window.
    pub units: u64,
    /// The length of the window.
    pub window_seconds: u64,
}

impl Scenario for Drip {
    fn send(&mut self, second: u64, chance: &mut Chance, out: &mut Vec<Request>) {
        if !lasts(self.at, self.seconds, second) {
            return;
        }
        let sent_before = |seconds: u64| seconds * self.units / self.window_seconds;
        let passed = second - self.at;
        out.extend((sent_before(passed)..sent_before(passed + 1)).map(|unit| Request {
            bytes: 180 + chance.below(40),
            ..get(second, self.client, format!("/api/v1/stock/{}", 1_000 + unit % 40), "stock-sync/0.9")
        }));
    }
}

/// A burst across the edge of a minute: half in its last three seconds, half in the first two of the next.
///
/// All of it lies within five whole seconds, yet no window aligned to minutes, or to five seconds, has more
/// than half.
#[derive(Clone, Copy, Debug)]
pub struct EdgeBurst {
    /// Its address.
    pub client: IpAddr,
    /// The first second of the later minute.
    pub edge: u64,
    /// The units on each side: best a multiple of 6.
    pub each_side: u64,
}

impl Scenario for EdgeBurst {
    fn send(&mut self, second: u64, chance: &mut Chance, out: &mut Vec<Request>) {
        let units = match second {
            _ if lasts(self.edge - 3, 3, second) => self.each_side / 3,
            _ if lasts(self.edge, 2, second) => self.each_side / 2,
            _ => 0,
        };
        out.extend((0..units).map(|_| Request {
            method: "POST",
            status: 401,
            bytes: 96 + chance.below(8),
            ..get(second, self.client, "/account/sign-in".to_owned(), "okgrab/1.4 libfetch/7.2")
        }));
    }
}

/// The address of a background visitor: a bijection for numbers below 2^32.
///
/// Three in eight are IPv6, from 2001:db8::/32 (documentation); the others from 198.18.0.0/15 (benchmarks),
/// up to 209 715 visitors, beyond which all are IPv6. The addresses of a scenario with a single client are
/// best taken from 192.0.2.0/24, 198.51.100.0/24 and 203.0.113.0/24, which no visitor has.
#[must_use]
pub fn visitor_address(visitor: u64) -> IpAddr {
    let place = [Some(0), Some(1), None, Some(2), Some(3), None, Some(4), None][(visitor % 8) as usize];
    match place.map(|place| visitor / 8 * 5 + place) {
        // An odd factor permutes the 2^17 addresses, so that neighbours in rank are not neighbours in space.
        Some(n) if n < 1 << 17 => {
            let scattered = (n * 40_503 + 75_061) % (1 << 17);
            Ipv4Addr::from_bits((198 << 24 | 18 << 16) + scattered as u32).into()
        }
        _ => {
            let prefix = 0x2001_0db8 << 96 | u128::from(visitor as u32) << 64;
            Ipv6Addr::from_bits(prefix | u128::from(mix(visitor))).into()
        }
    }
}

fn lasts(at: u64, seconds: u64, second: u64) -> bool {
    (at..at + seconds).contains(&second)
}

fn get(time: u64, client: IpAddr, path: String, agent: &'static str) -> Request {
    Request { time, client, user: None, method: "GET", path, status: 200, bytes: 0, referer: None, agent }
}

fn browse(visitor: u64, product: u64, time: u64, chance: &mut Chance) -> Request {
    let path = match chance.below(20) {
        0..11 => product_path(product),
        11..14 => format!("/search?q={}&page={}", chance.pick(&WARES), 1 + chance.below(6)),
        14..19 => format!("/static/img/{:04x}-{}.webp", product * 97, chance.pick(&["s", "m", "l"])),
        _ => "/cart".to_owned(),
    };
    let status = chance.pick(&[200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 304, 304, 302, 404]);
    Request {
        user: mix(visitor).is_multiple_of(16).then_some(USERS[(visitor % 4) as usize]),
        status,
        bytes: if status == 200 { 900 + chance.below(40_000) } else { 0 },
        referer: chance.pick(&REFERERS),
        ..get(time, visitor_address(visitor), path, browser_of(visitor))
    }
}

fn product_path(product: u64) -> String {
    let ware = WARES[(product % WARES.len() as u64) as usize];
    format!("/shop/{ware}/{ware}-{product:04}")
}

/// A visitor keeps its browser.
fn browser_of(visitor: u64) -> &'static str {
    AGENTS[(mix(!visitor) % AGENTS.len() as u64) as usize]
}

const WARES: [&str; 6] =
    ["copper-lantern", "camp-stove", "wool-blanket", "field-kettle", "tarp", "head-torch"];

const USERS: [&str; 4] = ["mira", "tobias", "yuki", "oluwaseun"];

const REFERERS: [Option<&str>; 5] = [
    None,
    Some("https://shop.example.com/"),
    Some("https://shop.example.com/shop/copper-lantern/"),
    Some("https://www.example.org/guides/packing-for-a-week"),
    Some("https://search.example.net/?q=camp+stove"),
];

const AGENTS: [&str; 6] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:152.0) Gecko/20100101 Firefox/152.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Mobile Safari/537.36",
    "LanternShop/4.2 (Android 16; build 4211)",
];
