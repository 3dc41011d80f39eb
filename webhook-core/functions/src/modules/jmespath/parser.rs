//! Expressions as trees.

use std::borrow::Cow;

use super::{
    MAX_PARTS,
    functions::Function,
    invalid,
    lexer::{Token, tokens},
};
use crate::modules::{Bounds, ModuleError, node::Node};

/// An expression.
#[derive(Debug)]
pub(super) enum Expr<'e> {
    Current,
    Literal(Node<'e>),
    Field(Cow<'e, str>),
    Index(i64),
    Slice([Option<i64>; 3]),
    /// The second of what the first finds.
    Then(Box<Expr<'e>>, Box<Expr<'e>>),
    /// The second of each element of the list that the first finds.
    Each(Box<Expr<'e>>, Box<Expr<'e>>),
    /// The same, of each value of an object.
    EachValue(Box<Expr<'e>>, Box<Expr<'e>>),
    /// The same, of the elements for which the condition holds.
    EachWhere {
        list: Box<Expr<'e>>,
        condition: Box<Expr<'e>>,
        then: Box<Expr<'e>>,
    },
    Flat(Box<Expr<'e>>),
    List(Vec<Expr<'e>>),
    Object(Vec<(Cow<'e, str>, Expr<'e>)>),
    Or(Box<Expr<'e>>, Box<Expr<'e>>),
    And(Box<Expr<'e>>, Box<Expr<'e>>),
    Not(Box<Expr<'e>>),
    Compared(&'static str, Box<Expr<'e>>, Box<Expr<'e>>),
    Call(Function, Vec<Expr<'e>>),
    /// An expression as an argument: `&price`.
    Reference(Box<Expr<'e>>),
}

pub(super) fn parse<'e>(expression: &'e str, bounds: &mut Bounds) -> Result<Expr<'e>, ModuleError> {
    let mut parser = Parser { tokens: tokens(expression, bounds)?, next: 0, parts: 0 };
    let parsed = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(parsed),
        _ => Err(parser.unexpected()),
    }
}

/// How strongly what follows a projection must bind to belong to it.
const PROJECTED: u8 = 10;
const STAR: u8 = 20;
const FILTER: u8 = 21;
const DOT: u8 = 40;

struct Parser<'e> {
    tokens: Vec<(usize, Token<'e>)>,
    next: usize,
    parts: usize,
}

/// How strongly a sign binds to what stands before it.
fn binding(token: &Token<'_>) -> u8 {
    match token {
        Token::Sign(sign) => match *sign {
            "|" => 1,
            "||" => 2,
            "&&" => 3,
            "==" | "!=" | "<" | "<=" | ">" | ">=" => 5,
            "[]" => 9,
            "[?" => FILTER,
            "." => DOT,
            "[" => 55,
            "(" => 60,
            _ => 0,
        },
        _ => 0,
    }
}

impl<'e> Parser<'e> {
    fn peek(&self) -> &Token<'e> {
        self.tokens.get(self.next).map_or(&Token::End, |(_, token)| token)
    }

    fn take(&mut self) -> Token<'e> {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn skip(&mut self, sign: &str) -> Result<(), ModuleError> {
        if !self.is(sign) {
            let at = self.tokens.get(self.next).map_or(0, |(at, _)| *at);
            return Err(invalid(format!("{sign:?} expected at {}", at + 1)));
        }
        self.next += 1;
        Ok(())
    }

    fn unexpected(&self) -> ModuleError {
        let Some((at, token)) = self.tokens.get(self.next) else {
            return invalid("the expression ends too early");
        };
        match token {
            Token::End => invalid("the expression ends too early"),
            Token::Sign(sign) => invalid(format!("{sign:?} at {} is unexpected", at + 1)),
            _ => invalid(format!("what begins at {} is unexpected", at + 1)),
        }
    }

    /// Counts a part of the expression, so that neither parsing nor searching goes too deep.
    fn part(&mut self) -> Result<(), ModuleError> {
        self.parts += 1;
        match self.parts > MAX_PARTS {
            true => Err(invalid(format!("more than {MAX_PARTS} parts"))),
            false => Ok(()),
        }
    }

    fn expression(&mut self, strength: u8) -> Result<Expr<'e>, ModuleError> {
        let mut left = self.first()?;
        while strength < binding(self.peek()) {
            left = self.further(left)?;
        }
        Ok(left)
    }

    fn boxed(&mut self, strength: u8) -> Result<Box<Expr<'e>>, ModuleError> {
        self.expression(strength).map(Box::new)
    }

    /// Reads the first operand of an expression.
    fn first(&mut self) -> Result<Expr<'e>, ModuleError> {
        self.part()?;
        let current = || Box::new(Expr::Current);
        match self.take() {
            Token::Literal(value) => Ok(Expr::Literal(value)),
            Token::Name(name) => match self.is("(") {
                true => self.call(&name),
                false => Ok(Expr::Field(name)),
            },
            Token::Quoted(name) => Ok(Expr::Field(name)),
            Token::Sign("*") => Ok(Expr::EachValue(current(), Box::new(self.projected(STAR)?))),
            Token::Sign("[?") => self.filter(Expr::Current),
            Token::Sign("[]") => {
                let flat = Expr::Flat(current());
                Ok(Expr::Each(Box::new(flat), Box::new(self.projected(9)?)))
            }
            Token::Sign("{") => self.object(),
            Token::Sign("(") => {
                let inner = self.expression(0)?;
                self.skip(")")?;
                Ok(inner)
            }
            Token::Sign("!") => Ok(Expr::Not(self.boxed(45)?)),
            Token::Sign("[") => match self.brackets(Expr::Current)? {
                Some(found) => Ok(found),
                None => self.list(),
            },
            Token::Sign("@") => Ok(Expr::Current),
            Token::Sign("&") => Ok(Expr::Reference(self.boxed(0)?)),
            _ => {
                self.next -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// Reads the operator, index or call after an expression.
    fn further(&mut self, left: Expr<'e>) -> Result<Expr<'e>, ModuleError> {
        self.part()?;
        let left = Box::new(left);
        let Token::Sign(sign) = self.take() else {
            self.next -= 1;
            return Err(self.unexpected());
        };
        Ok(match sign {
            "." if self.is("*") => {
                self.next += 1;
                Expr::EachValue(left, Box::new(self.projected(DOT)?))
            }
            "." => Expr::Then(left, Box::new(self.behind_dot(DOT)?)),
            "|" => Expr::Then(left, self.boxed(1)?),
            "||" => Expr::Or(left, self.boxed(2)?),
            "&&" => Expr::And(left, self.boxed(3)?),
            "[?" => return self.filter(*left),
            "[]" => Expr::Each(Box::new(Expr::Flat(left)), Box::new(self.projected(9)?)),
            "[" => match self.brackets(*left)? {
                Some(found) => found,
                None => return Err(self.unexpected()),
            },
            "==" | "!=" | "<" | "<=" | ">" | ">=" => Expr::Compared(sign, left, self.boxed(5)?),
            _ => {
                self.next -= 1;
                return Err(self.unexpected());
            }
        })
    }

    /// The part of the text after a projection that is applied to each of its elements.
    fn projected(&mut self, strength: u8) -> Result<Expr<'e>, ModuleError> {
        if binding(self.peek()) < PROJECTED {
            return Ok(Expr::Current);
        }
        self.part()?;
        if self.is("[") || self.is("[?") {
            return self.expression_of(Expr::Current, strength);
        }
        self.skip(".")?;
        self.behind_dot(strength)
    }

    /// The expression that continues after `left`.
    fn expression_of(&mut self, left: Expr<'e>, strength: u8) -> Result<Expr<'e>, ModuleError> {
        let mut left = self.further(left)?;
        while strength < binding(self.peek()) {
            left = self.further(left)?;
        }
        Ok(left)
    }

    fn behind_dot(&mut self, strength: u8) -> Result<Expr<'e>, ModuleError> {
        match self.peek() {
            Token::Name(_) | Token::Quoted(_) | Token::Sign("*") => self.expression(strength),
            Token::Sign("[") => {
                self.next += 1;
                self.list()
            }
            Token::Sign("{") => {
                self.next += 1;
                self.object()
            }
            _ => Err(self.unexpected()),
        }
    }

    /// An index, a slice or a star in brackets, behind the first bracket.
    fn brackets(&mut self, left: Expr<'e>) -> Result<Option<Expr<'e>>, ModuleError> {
        let left = Box::new(left);
        match self.peek() {
            Token::Number(_) | Token::Sign(":") => {
                let mut numbers = [None; 3];
                let mut place = 0;
                while !self.is("]") {
                    match self.take() {
                        Token::Number(number) if numbers[place].is_none() => {
                            numbers[place] = Some(number);
                        }
                        Token::Sign(":") if place < 2 => place += 1,
                        _ => {
                            self.next -= 1;
                            return Err(self.unexpected());
                        }
                    }
                }
                self.skip("]")?;
                if place == 0 {
                    let index = Expr::Index(numbers[0].unwrap_or(0));
                    return Ok(Some(Expr::Then(left, Box::new(index))));
                }
                if numbers[2] == Some(0) {
                    return Err(invalid("the step of a slice is not 0"));
                }
                let sliced = Expr::Then(left, Box::new(Expr::Slice(numbers)));
                Ok(Some(Expr::Each(Box::new(sliced), Box::new(self.projected(STAR)?))))
            }
            Token::Sign("*")
                if matches!(self.tokens.get(self.next + 1), Some((_, Token::Sign("]")))) =>
            {
                self.next += 2;
                Ok(Some(Expr::Each(left, Box::new(self.projected(STAR)?))))
            }
            _ => Ok(None),
        }
    }

    fn filter(&mut self, list: Expr<'e>) -> Result<Expr<'e>, ModuleError> {
        let condition = self.boxed(0)?;
        self.skip("]")?;
        let then = if self.is("[]") { Expr::Current } else { self.projected(FILTER)? };
        Ok(Expr::EachWhere { list: Box::new(list), condition, then: Box::new(then) })
    }

    /// A list of expressions, behind its bracket.
    fn list(&mut self) -> Result<Expr<'e>, ModuleError> {
        let mut all = vec![self.expression(0)?];
        while self.is(",") {
            self.next += 1;
            all.push(self.expression(0)?);
        }
        self.skip("]")?;
        Ok(Expr::List(all))
    }

    /// Names with expressions, behind the brace.
    fn object(&mut self) -> Result<Expr<'e>, ModuleError> {
        let mut all = Vec::new();
        loop {
            let (Token::Name(name) | Token::Quoted(name)) = self.take() else {
                self.next -= 1;
                return Err(self.unexpected());
            };
            self.skip(":")?;
            all.push((name, self.expression(0)?));
            if !self.is(",") {
                break;
            }
            self.next += 1;
        }
        self.skip("}")?;
        Ok(Expr::Object(all))
    }

    fn call(&mut self, name: &str) -> Result<Expr<'e>, ModuleError> {
        self.skip("(")?;
        let mut all = Vec::new();
        while !self.is(")") {
            if !all.is_empty() {
                self.skip(",")?;
            }
            all.push(self.expression(0)?);
        }
        self.skip(")")?;
        Ok(Expr::Call(Function::named(name, all.len())?, all))
    }
}
